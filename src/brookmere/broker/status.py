"""A snapshot of the status of a Kafka and its nodes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from brookmere.broker.node import Node
from brookmere.broker.probe import brokers_seen_by

State = Literal["running", "starting", "stopped"]


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """One node: its id, state, process, port, size in bytes and log."""

    id: int
    state: State
    pid: int | None
    port: int
    bytes: int
    log: Path


@dataclass(frozen=True, slots=True)
class BrokerStatus:
    """A Kafka: its directory, addresses, version and nodes."""

    directory: Path
    bootstrap_servers: str
    version: str
    nodes: tuple[NodeStatus, ...]

    @property
    def state(self) -> Literal["running", "starting", "stopped", "partly running"]:
        """The common state of all nodes, if they have one."""
        states = {node.state for node in self.nodes}
        return states.pop() if len(states) == 1 else "partly running"


def status_of(node: Node) -> NodeStatus:
    """Return the status of a node; it is running once it is ready."""
    identity = node.identity
    ready = identity is not None and node.id in brokers_seen_by(node.port)
    state: State = "stopped" if identity is None else "running" if ready else "starting"
    pid = None if identity is None else identity.pid
    return NodeStatus(node.id, state, pid, node.port, _bytes_in(node.data), node.log)


def _bytes_in(directory: Path) -> int:
    """Return the disk usage of a directory; Kafka's index files are sparse."""
    total = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                total += (Path(folder) / name).lstat().st_blocks * 512
            except FileNotFoundError:
                # Kafka removes files meanwhile.
                continue
    return total

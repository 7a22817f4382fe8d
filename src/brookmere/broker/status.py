"""Holds what is known of a Kafka at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

State = Literal["running", "starting", "stopped"]


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """One node: its number, what it does, its process and its port."""

    id: int
    state: State
    pid: int | None
    port: int
    log: Path


@dataclass(frozen=True, slots=True)
class BrokerStatus:
    """A Kafka: where it lies, how it is reached, its version, the bytes it holds and its nodes."""

    directory: Path
    bootstrap_servers: str
    version: str
    bytes: int
    nodes: tuple[NodeStatus, ...]

    @property
    def state(self) -> Literal["running", "starting", "stopped", "partly running"]:
        """What all nodes do, where they do the same."""
        states = {node.state for node in self.nodes}
        return states.pop() if len(states) == 1 else "partly running"

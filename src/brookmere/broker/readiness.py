"""Check that nodes can start, and wait until they are ready."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from brookmere.broker.node import Node
from brookmere.broker.ports import is_free
from brookmere.broker.probe import brokers_seen_by
from brookmere.errors import BrokerError

_SECONDS = 120.0


def check_ports(nodes: Sequence[Node]) -> None:
    """Raise an error if a port of the nodes is already in use."""
    for node in nodes:
        for name, port in node.layout.ports.items():
            if not is_free(port):
                raise BrokerError(
                    f"Kafka cannot listen on port {port} ({name} of broker {node.id}).\n"
                    "Found: the port is already in use.\n"
                    "Stop that process, or choose another port: brookmere kafka up --port PORT; "
                    "0 chooses free ports."
                )


def await_ready(nodes: Sequence[Node], directory: Path) -> None:
    """Wait until every running node sees all running nodes as ready."""
    deadline = time.monotonic() + _SECONDS
    running = [node for node in nodes if node.running]
    expected = {node.id for node in running}
    waiting = list(running)
    while waiting:
        for node in running:
            if not node.running:
                raise BrokerError(
                    f"Broker {node.id} of the Kafka in {directory} exited during startup.\n"
                    f"Found: {node.last_words()}\n"
                    f"Fix the reported problem; the full log is in {node.log}."
                )
        waiting = [node for node in waiting if not expected <= brokers_seen_by(node.port)]
        if waiting and time.monotonic() > deadline:
            raise BrokerError(
                f"The Kafka in {directory} is not ready after {_SECONDS:.0f} seconds.\n"
                f"Found: the log of broker {waiting[0].id} ends with: {waiting[0].last_words()}\n"
                "Fix the reported problem, or try again when the machine is less busy."
            )
        if waiting:
            time.sleep(0.05)

"""Checks that nodes can start, and waits until they take records."""

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
    """Refuse nodes whose ports another process has."""
    for node in nodes:
        for name, port in node.layout.ports.items():
            if not is_free(port):
                raise BrokerError(
                    f"Kafka cannot listen on port {port} ({name} of broker {node.id}).\n"
                    "Found: another process uses this port.\n"
                    "Stop that process, or choose another port: brookmere kafka up --port PORT; "
                    "port 0 means any that is free."
                )


def await_ready(nodes: Sequence[Node], directory: Path) -> None:
    """Wait until every running node knows every running node as one that takes records."""
    deadline = time.monotonic() + _SECONDS
    running = [node for node in nodes if node.running]
    expected = {node.id for node in running}
    waiting = list(running)
    while waiting:
        for node in running:
            if not node.running:
                raise BrokerError(
                    f"Broker {node.id} of the Kafka in {directory} ended while it started.\n"
                    f"Found: {node.last_words()}\n"
                    f"Mend what it complains of; all it said is in {node.log}."
                )
        waiting = [node for node in waiting if not expected <= brokers_seen_by(node.port)]
        if waiting and time.monotonic() > deadline:
            raise BrokerError(
                f"The Kafka in {directory} is not ready after {_SECONDS:.0f} seconds.\n"
                f"Found: broker {waiting[0].id} said: {waiting[0].last_words()}\n"
                "Mend what it complains of, or try again when the machine is less busy."
            )
        if waiting:
            time.sleep(0.05)

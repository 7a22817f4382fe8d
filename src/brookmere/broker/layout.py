"""Turns a directory into what is known of the Kafka in it: its id, its nodes and their ports, and back."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from brookmere.broker.ports import free_port
from brookmere.errors import BrokerError
from brookmere.kernel.cache import write_atomically

_FILE = "broker.json"
CLIENTS, CONTROLLER = "PLAINTEXT", "CONTROLLER"


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """A node: its id, and the port of each of its listeners."""

    id: int
    ports: dict[str, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """A Kafka: the version that it ran last, its id, and its nodes."""

    version: str
    cluster: str
    nodes: tuple[NodeLayout, ...]

    def save(self, directory: Path) -> None:
        write_atomically(directory / _FILE, json.dumps(asdict(self), indent=2).encode())

    def with_ports(self, port: int | None, listeners: Iterable[str]) -> Layout:
        """Return a layout for nodes that do not run.

        Clients are served on `port` and the next ones, on free ones if it is 0, and else where they were.
        """
        taken: set[int] = set()
        nodes = []
        for place, node in enumerate(self.nodes):
            kept = node.ports.get(CLIENTS) if port is None else None
            wanted = {
                CLIENTS: port + place if port else kept,
                **{name: node.ports.get(name) for name in listeners},
                # Nobody else knows the port of a controller, so it need not stay.
                CONTROLLER: None,
            }
            ports = {}
            for name, number in wanted.items():
                ports[name] = number or free_port(taken)
                taken.add(ports[name])
            nodes.append(NodeLayout(node.id, ports))
        return replace(self, nodes=tuple(nodes))


def new_layout(version: str, brokers: int) -> Layout:
    """Return the layout of a Kafka that is still to be made, without ports."""
    return Layout(version, new_id(), tuple(NodeLayout(number + 1, {}) for number in range(brokers)))


def load(directory: Path) -> Layout | None:
    """Return the layout that a directory was given; None if it was given none."""
    try:
        found = json.loads((directory / _FILE).read_text())
        nodes = tuple(NodeLayout(node["id"], dict(node["ports"])) for node in found["nodes"])
        return Layout(found["version"], found["cluster"], nodes)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as failure:
        raise BrokerError(
            f"The directory {directory} does not hold a Kafka that can be used.\n"
            f"Found: {directory / _FILE} cannot be read ({failure!r}).\n"
            "Remove the directory, with its topics, or name another: --dir DIR."
        ) from failure


def new_id() -> str:
    """Return a new id as Kafka writes them: 22 characters, the first not a minus."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text

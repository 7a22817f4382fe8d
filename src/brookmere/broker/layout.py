"""The stored layout of a Kafka: its id, its nodes and their ports."""

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
    """A Kafka: the version that last ran, its id, and its nodes."""

    version: str
    cluster: str
    nodes: tuple[NodeLayout, ...]

    def save(self, directory: Path) -> None:
        write_atomically(directory / _FILE, json.dumps(asdict(self), indent=2).encode())

    def with_ports(self, port: int | None, listeners: Iterable[str]) -> Layout:
        """Return a layout for nodes that are not running.

        Client ports are `port` and the next ones, free ones if it is 0, and the previous ones if it is None.
        """
        taken: set[int] = set()
        nodes = []
        for place, node in enumerate(self.nodes):
            kept = node.ports.get(CLIENTS) if port is None else None
            wanted = {
                CLIENTS: port + place if port else kept,
                **{name: node.ports.get(name) for name in listeners},
                # Only the nodes know the port of a controller, so it may change.
                CONTROLLER: None,
            }
            ports = {}
            for name, number in wanted.items():
                ports[name] = number or free_port(taken)
                taken.add(ports[name])
            nodes.append(NodeLayout(node.id, ports))
        return replace(self, nodes=tuple(nodes))


def new_layout(version: str, brokers: int) -> Layout:
    """Return the layout of a new Kafka, without ports."""
    return Layout(version, new_id(), tuple(NodeLayout(number + 1, {}) for number in range(brokers)))


def load(directory: Path) -> Layout | None:
    """Return the stored layout of a directory; None if there is none."""
    try:
        found = json.loads((directory / _FILE).read_text())
        nodes = tuple(NodeLayout(node["id"], dict(node["ports"])) for node in found["nodes"])
        return Layout(found["version"], found["cluster"], nodes)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as failure:
        raise BrokerError(
            f"The directory {directory} does not contain a usable Kafka.\n"
            f"Found: {directory / _FILE} cannot be read ({failure!r}).\n"
            "Remove the directory with its topics, or choose another: --dir DIR."
        ) from failure


def new_id() -> str:
    """Return a new id in Kafka's format: 22 characters, the first not a minus."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text

"""What identifies a store across versions of a program, apart from its name.

A store is the operators that keep it, their windows, and what feeds them.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from brookmere.plan.stages import Plan
from brookmere.topology.function import Function
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode
from brookmere.topology.operators import Process, StreamJoin
from brookmere.topology.operators.operator import is_identity
from brookmere.topology.python_code import PythonFunction

_LENIENT = {"grace_ms"}
"""Fields of windows that may change without affecting existing windows."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """What a store is, apart from its name and its types."""

    operator: str
    """The class names of the operators that keep it."""
    windows: str
    """The windows that its rows belong to; empty if there are none."""
    topics: tuple[str, ...]
    """The topics that feed it, through however many repartitions."""
    partitions: int
    """How many tasks have a share of its rows; 0 for a global table."""
    clocks: tuple[str, ...]
    """The nodes whose stream time belongs to it."""
    print: str
    """A hash of the operators that keep and feed it, including the code of their functions."""


def is_generated(name: str) -> bool:
    """Return whether a name has a generated number, which depends on the order of the operators.

    >>> is_generated("KSTREAM-AGGREGATE-STATE-STORE-0000000003"), is_generated("counts")
    (True, False)
    """
    return re.search(r"[A-Z]-\d{10}(?!\d)", name) is not None


def lineages(plan: Plan) -> dict[str, Lineage]:
    """Return the lineage of each store of the plan."""
    graph = _Graph(plan)
    found: dict[str, Lineage] = {}
    for store in plan.topology.stores:
        keepers = plan.topology.keepers(store.name)
        if not keepers:
            continue
        roots = [root for keeper in keepers for root in graph.roots(keeper)]
        counts = [plan.partitions.get(topic, 0) for root in roots for topic in graph.topics_of(root)]
        prints = [graph.print_of(keeper) for keeper in keepers]
        found[store.name] = Lineage(
            operator="+".join(dict.fromkeys(type(keeper.operator).__name__ for keeper in keepers)),
            windows="+".join(dict.fromkeys(filter(None, (_windows(keeper) for keeper in keepers)))),
            topics=tuple(sorted({topic for keeper in keepers for topic in graph.sources(keeper)})),
            partitions=0 if store.is_global else max(counts, default=0),
            clocks=tuple(dict.fromkeys(_clock(keeper) for keeper in keepers)),
            print=hashlib.sha256(repr(sorted(prints)).encode()).hexdigest()[:16],
        )
    return found


def _windows(keeper: ProcessorNode) -> str:
    windows = getattr(keeper.operator, "windows", None)
    if windows is None or not is_dataclass(windows):
        return ""
    parts = [
        f"{part.name}={getattr(windows, part.name)}" for part in fields(windows) if part.name not in _LENIENT
    ]
    return f"{type(windows).__name__}({', '.join(parts)})"


def _clock(keeper: ProcessorNode) -> str:
    # The sides of a join share a clock.
    shared = keeper.operator.clock if isinstance(keeper.operator, StreamJoin) else ""
    return shared or keeper.name


class _Graph:
    """Finds what feeds a node."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._nodes: dict[str, Node] = {node.name: node for node in plan.topology.nodes}
        self._prints: dict[str, str] = {}

    def topics_of(self, source: SourceNode) -> tuple[str, ...]:
        return source.topics if source.internal else self._plan.topics_of(source)

    def parents(self, node: Node) -> list[Node]:
        if not isinstance(node, SourceNode):
            return [self._nodes[name] for name in node.parents]
        nodes = self._nodes.values()
        return [
            n
            for n in nodes
            if node.internal and isinstance(n, SinkNode) and n.internal and n.topic in node.topics
        ]

    def roots(self, node: Node) -> list[SourceNode]:
        """Return the sources above a node, up to the next repartition."""
        if isinstance(node, SourceNode):
            return [node]
        return [root for parent in self.parents(node) for root in self.roots(parent)]

    def sources(self, node: Node) -> set[str]:
        """Return the topics above a node."""
        if isinstance(node, SourceNode) and not node.internal:
            return set(self._plan.topics_of(node))
        return {topic for parent in self.parents(node) for topic in self.sources(parent)}

    def print_of(self, node: Node) -> str:
        if node.name not in self._prints:
            own: tuple[Any, ...]
            match node:
                case SourceNode():
                    own = ("source", () if node.internal else self.topics_of(node))
                case SinkNode():
                    own = ("sink",)
                case _:
                    own = _printed(node.operator)
            text = repr((own, [self.print_of(parent) for parent in self.parents(node)]))
            self._prints[node.name] = hashlib.sha256(_without_addresses(text).encode()).hexdigest()
        return self._prints[node.name]


def _printed(value: Any) -> Any:
    if isinstance(value, Function | PythonFunction | Process):
        return value.fingerprint
    if isinstance(value, tuple):
        return tuple(_printed(part) for part in value)
    if is_dataclass(value):
        parts = [part for part in fields(value) if is_identity(part)]
        return (type(value).__name__, *(_printed(getattr(value, part.name)) for part in parts))
    return repr(value)


def _without_addresses(text: str) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)

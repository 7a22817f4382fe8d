"""Which Python classes the keys and values of nodes have, beyond their Spark types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from brookmere.serde import Serde, Windowed
from brookmere.topology.nodes import Node, SinkNode, SourceNode, Topology
from brookmere.worker.protocol.stage_code import TypeCode
from brookmere.worker.types.annotations import resolved


@dataclass(frozen=True, slots=True)
class Facet:
    """What a key or value is in Python: a dataclass, or an unpickled object."""

    made: object = None
    is_pickled: bool = False

    def of(self, type_json: str) -> TypeCode:
        """Return this as a type that is `type_json` for Spark."""
        return TypeCode(type_json, self.made, is_pickled=self.is_pickled)


_PLAIN = Facet()


@dataclass(slots=True)
class Facets:
    """Finds the Python classes of the keys and values of nodes."""

    topology: Topology
    _known: dict[str, tuple[Facet, Facet]] = field(default_factory=dict)

    def of(self, name: str) -> tuple[Facet, Facet]:
        """Return the facets of the key and the value that a node forwards."""
        if name not in self._known:
            self._known[name] = (_PLAIN, _PLAIN)
            self._known[name] = self._found(self.topology.node(name))
        return self._known[name]

    def record(self, name: str, key: Facet, value: Facet) -> None:
        """Remember what a Python node forwards."""
        self._known[name] = (key, value)

    def of_parents(self, names: Iterable[str]) -> tuple[Facet, Facet]:
        """Return what comes from several nodes: a dataclass only if it comes from all of them."""
        found = [self.of(name) for name in names]
        return _only([key for key, _ in found]), _only([value for _, value in found])

    def _found(self, node: Node) -> tuple[Facet, Facet]:
        if isinstance(node, SourceNode) and not node.internal:
            return _of_serde(node.key), _of_serde(node.value)
        parents = self._senders(node) if isinstance(node, SourceNode) else node.parents
        key, value = self.of_parents(parents)
        if isinstance(node, SourceNode | SinkNode):
            return key, value
        operator = node.operator
        return key if operator.keeps_key else _PLAIN, value if operator.keeps_value else _PLAIN

    def _senders(self, source: SourceNode) -> list[str]:
        nodes = self.topology.nodes
        return [n.name for n in nodes if isinstance(n, SinkNode) and n.internal and n.topic in source.topics]


def _only(found: list[Facet]) -> Facet:
    return found[0] if found and all(other == found[0] for other in found) else _PLAIN


def _of_serde(serde: Serde | None) -> Facet:
    inner = serde.inner if isinstance(serde, Windowed) else serde
    if inner is None:
        return _PLAIN
    return Facet(resolved(inner.python_record()), is_pickled=inner.is_pickled)

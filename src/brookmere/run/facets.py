"""Turns a topology into what the keys and values of its nodes are in Python, where that is more than their types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brookmere.serde import Json, Serde, Windowed
from brookmere.topology import join_operators as jo
from brookmere.topology import operators as op
from brookmere.topology.nodes import Node, SinkNode, SourceNode, Topology

Facet = object | None
"""A dataclass, or None."""

_KEEP_BOTH = (
    op.Filter, op.Tap, op.PassThrough, op.Branch, op.KeyNotNull, op.TableSource, op.TableFilter,
    op.TableToStream, op.Suppress, op.Dedupe,
)  # fmt: skip
_KEEP_KEY = (
    op.MapValues, op.FlatMapValues, op.TableMapValues, op.Aggregate, op.TableAggregate, jo.StreamTableJoin,
    jo.GlobalJoin, jo.TableJoin, jo.TableJoinMerge, jo.StreamJoin, jo.StreamSelfJoin,
)  # fmt: skip


@dataclass(slots=True)
class Facets:
    """Knows which dataclasses the keys and values of nodes are."""

    topology: Topology
    _known: dict[str, tuple[Facet, Facet]] = field(default_factory=dict)

    def of(self, name: str) -> tuple[Facet, Facet]:
        """Return what the key and the value are that a node forwards."""
        if name not in self._known:
            self._known[name] = (None, None)
            self._known[name] = self._found(self.topology.node(name))
        return self._known[name]

    def tell(self, name: str, key: Facet, value: Facet) -> None:
        """Remember what a Python node forwards."""
        self._known[name] = (key, value)

    def of_parents(self, names: Iterable[str]) -> tuple[Facet, Facet]:
        """Return what comes from nodes: a dataclass only if it comes from all of them."""
        found = [self.of(name) for name in names]
        keys, values = {id(key): key for key, _ in found}, {id(value): value for _, value in found}
        return _only(keys), _only(values)

    def _found(self, node: Node) -> tuple[Facet, Facet]:
        if isinstance(node, SourceNode) and not node.internal:
            return _of_serde(node.key), _of_serde(node.value)
        parents = self._senders(node) if isinstance(node, SourceNode) else node.parents
        key, value = self.of_parents(parents)
        if isinstance(node, SourceNode | SinkNode) or isinstance(node.operator, _KEEP_BOTH):
            return key, value
        if isinstance(node.operator, op.SelectKey):
            return None, value
        return (key, None) if isinstance(node.operator, _KEEP_KEY) else (None, None)

    def _senders(self, source: SourceNode) -> list[str]:
        nodes = self.topology.nodes
        return [n.name for n in nodes if isinstance(n, SinkNode) and n.internal and n.topic in source.topics]


def _only(found: Mapping[int, Facet]) -> Facet:
    return next(iter(found.values())) if len(found) == 1 else None


def _of_serde(serde: Serde | None) -> Facet:
    inner: Any = serde.inner if isinstance(serde, Windowed) else serde
    return inner.record if isinstance(inner, Json) else None

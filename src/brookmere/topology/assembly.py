"""Assembles nodes into a topology: finds its sub-topologies and co-partitioned topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from brookmere.topology.nodes import (
    Node,
    ProcessorNode,
    Repartition,
    SourceNode,
    Store,
    Subtopology,
    Topology,
)


@dataclass(slots=True)
class Parts:
    """What a topology is put together from, in the order of addition."""

    nodes: list[Node] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    repartitions: list[Repartition] = field(default_factory=list)
    copartitioned: list[tuple[str, ...]] = field(default_factory=list)
    """Groups of source node names."""

    def store(self, store: Store) -> None:
        """Add `store`. Only processors that are given one and the same object share a store."""
        if not any(known is store for known in self.stores):
            self.stores.append(store)


def assemble(application_id: str, parts: Parts) -> Topology:
    """Return the topology of `parts`, which may still be invalid; `validate` reports that."""
    return Topology(
        application_id=application_id,
        nodes=tuple(parts.nodes),
        stores=tuple(parts.stores),
        repartitions=tuple(parts.repartitions),
        copartitioned=_topic_groups(parts),
        subtopologies=_subtopologies(parts.nodes),
    )


class _Groups:
    """Sets of names that grow together."""

    def __init__(self) -> None:
        self._leader: dict[str, str] = {}

    def find(self, name: str) -> str:
        path = []
        while (leader := self._leader.setdefault(name, name)) != name:
            path.append(name)
            name = leader
        self._leader.update(dict.fromkeys(path, name))
        return name

    def unite(self, one: str, other: str) -> None:
        self._leader[self.find(one)] = self.find(other)


def _subtopologies(nodes: Sequence[Node]) -> tuple[Subtopology, ...]:
    groups = _Groups()
    first_user: dict[str, str] = {}
    for node in nodes:
        for parent in () if isinstance(node, SourceNode) else node.parents:
            groups.unite(node.name, parent)
        for store in node.stores if isinstance(node, ProcessorNode) else ():
            groups.unite(node.name, first_user.setdefault(store, node.name))
    members: dict[str, list[Node]] = {}
    for node in nodes:
        members.setdefault(groups.find(node.name), []).append(node)
    return tuple(
        Subtopology(
            number=number,
            nodes=tuple(node.name for node in group),
            is_global=any(isinstance(node, SourceNode) and node.is_global for node in group),
        )
        for number, group in enumerate(members.values())
    )


def _topic_groups(parts: Parts) -> tuple[tuple[str, ...], ...]:
    topics = {node.name: node.topics for node in parts.nodes if isinstance(node, SourceNode)}
    groups = _Groups()
    for sources in parts.copartitioned:
        members = _topics_of(sources, topics)
        for topic in members:
            groups.unite(topic, members[0])
    grouped = {topic for sources in parts.copartitioned for topic in _topics_of(sources, topics)}
    merged: dict[str, list[str]] = {}
    for topic in (topic for read in topics.values() for topic in read):
        if topic in grouped:
            merged.setdefault(groups.find(topic), []).append(topic)
    return tuple(tuple(dict.fromkeys(group)) for group in merged.values() if len(set(group)) > 1)


def _topics_of(sources: Iterable[str], topics: dict[str, tuple[str, ...]]) -> list[str]:
    return [topic for source in sources for topic in topics.get(source, ())]

"""Turns a topology and the partition counts of its topics into the stages of a query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from brookmere.errors import TopologyError
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, Topology
from brookmere.topology.partitions import partition_counts
from brookmere.topology.validation import check_partitions


@dataclass(frozen=True, slots=True)
class Stage:
    """Stage 0 runs per source partition and without state; the others run per task, behind an exchange."""

    number: int
    nodes: tuple[Node, ...]

    @property
    def stores(self) -> tuple[str, ...]:
        """The stores of the stage, each once, in the order of its processors."""
        names = (name for node in self.nodes if isinstance(node, ProcessorNode) for name in node.stores)
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Plan:
    """The physical form of a topology."""

    topology: Topology
    stages: tuple[Stage, ...]
    topics: tuple[str, ...]
    """The topics that are read, in the order that numbers them."""
    partitions: Mapping[str, int]
    """Of the topics that are read, and of the repartitions."""

    @property
    def tasks(self) -> int:
        """How many tasks a stage has: the largest number of partitions."""
        return max(self.partitions.values())

    def stage_of(self) -> dict[str, int]:
        """Return the number of the stage of every node."""
        return {node.name: stage.number for stage in self.stages for node in stage.nodes}

    def topics_of(self, source: SourceNode) -> tuple[str, ...]:
        """Return the topics that a source reads, a pattern's included."""
        return _topics_of(source, self.partitions)


def plan(topology: Topology, partitions: Mapping[str, int]) -> Plan:
    """Return the stages of `topology`; `partitions` counts those of the topics there are.

    Raises:
        TopologyError: a topic that is read is unknown, or co-partitioned topics differ in their counts.
    """
    sources = [n for n in topology.nodes if isinstance(n, SourceNode) and not n.internal]
    counts = {t: n for t, n in partitions.items() if any(t in _topics_of(s, partitions) for s in sources)}
    repartitions = partition_counts(topology, counts)
    faults = check_partitions(topology, {**counts, **repartitions})
    if faults:
        raise TopologyError(faults)
    stage_of = _Placement(topology).stages()
    last = max(stage_of.values(), default=0)
    return Plan(
        topology=topology,
        stages=tuple(
            Stage(number, tuple(n for n in topology.nodes if stage_of[n.name] == number))
            for number in range(last + 1)
        ),
        topics=tuple(dict.fromkeys(t for s in sources for t in _topics_of(s, partitions))),
        partitions={**counts, **repartitions},
    )


def _topics_of(source: SourceNode, partitions: Mapping[str, int]) -> tuple[str, ...]:
    if source.pattern is None:
        return source.topics
    return tuple(sorted(t for t in partitions if re.fullmatch(source.pattern, t)))


class _Placement:
    """Finds the stage of each node.

    The part of a sub-topology behind its first exchange has one stage, one later than the latest that
    sends to it. What comes before the exchange, stateless and fed by topics only, is in stage 0.
    """

    def __init__(self, topology: Topology) -> None:
        self._nodes = {node.name: node for node in topology.nodes}
        self._part = {name: part.number for part in topology.subtopologies for name in part.nodes}
        self._senders: dict[int, list[str]] = {part.number: [] for part in topology.subtopologies}
        readers = {t: n for n in topology.nodes if isinstance(n, SourceNode) and n.internal for t in n.topics}
        for node in topology.nodes:
            if isinstance(node, SinkNode) and node.internal and isinstance(node.topic, str):
                self._senders[self._part[readers[node.topic].name]].append(node.name)
        self._depths: dict[int, int] = {}
        self._stages: dict[str, int] = {}

    def stages(self) -> dict[str, int]:
        return {name: self._stage(name) for name in self._nodes}

    def _depth(self, part: int) -> int:
        if part not in self._depths:
            self._depths[part] = max((self._stage(name) + 1 for name in self._senders[part]), default=1)
        return self._depths[part]

    def _stage(self, name: str) -> int:
        if name not in self._stages:
            node = self._nodes[name]
            before_exchange = (
                not node.internal
                if isinstance(node, SourceNode)
                else not _is_stateful(node) and all(self._stage(parent) == 0 for parent in node.parents)
            )
            self._stages[name] = 0 if before_exchange else self._depth(self._part[name])
        return self._stages[name]


def _is_stateful(node: Node) -> bool:
    return isinstance(node, ProcessorNode) and bool(node.stores)

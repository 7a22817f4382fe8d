"""Turns a topology and the partition counts of its topics into the stages of a query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from brookmere.errors import Fault, TopologyError
from brookmere.plan.placement import kept, place
from brookmere.topology.nodes import Node, ProcessorNode, SourceNode, Topology
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
        processors = [node for node in self.nodes if isinstance(node, ProcessorNode)]
        names = (name for node in processors for name in node.stores if name in kept(node))
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
    repartitions = partition_counts(topology, partitions)
    faults = check_partitions(topology, {**counts, **repartitions})
    stage_of = place(topology)
    last = max(stage_of.values(), default=0)
    faults += _limits(last + 1, {**counts, **repartitions})
    if faults:
        raise TopologyError(faults)
    return Plan(
        topology=topology,
        stages=tuple(
            Stage(number, tuple(n for n in topology.nodes if stage_of[n.name] == number))
            for number in range(last + 1)
        ),
        topics=tuple(dict.fromkeys(t for s in sources for t in _topics_of(s, partitions))),
        partitions={**counts, **repartitions},
    )


MAX_STAGES = 16
MAX_PARTITIONS = 8192
"""What the order numbers of the kernel's rows have room for."""


def _limits(stages: int, partitions: Mapping[str, int]) -> list[Fault]:
    faults = [
        Fault(f"The topic {topic!r} has {count} partitions, more than {MAX_PARTITIONS}", None, "Use fewer")
        for topic, count in partitions.items()
        if count > MAX_PARTITIONS
    ]
    if stages > MAX_STAGES:
        what = f"The program repartitions {stages - 1} times in a row, more than {MAX_STAGES - 1}"
        faults.append(Fault(what, None, "Write to a topic in between, and read it in a second program"))
    return faults


def _topics_of(source: SourceNode, partitions: Mapping[str, int]) -> tuple[str, ...]:
    if source.pattern is None:
        return source.topics
    return tuple(sorted(t for t in partitions if re.fullmatch(source.pattern, t)))

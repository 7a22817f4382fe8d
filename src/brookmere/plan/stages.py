"""Turns a topology and the partition counts of its topics into the stages of a query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from brookmere.errors import Fault, TopologyError, UnsupportedError
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
    repartitions = partition_counts(topology, partitions)
    faults = check_partitions(topology, {**counts, **repartitions})
    stage_of = _Placement(topology).stages()
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


class _Placement:
    """Finds the stage of each node.

    A repartition leads to a later stage than that of its senders; other records stay in the stage of
    their parents, except that state needs an exchange before it. Processors that share a store share
    the stage, which is why the search repeats until nothing moves.
    """

    def __init__(self, topology: Topology) -> None:
        self._nodes = topology.nodes
        self._senders: dict[str, list[str]] = {}
        for node in topology.nodes:
            if isinstance(node, SinkNode) and node.internal and isinstance(node.topic, str):
                self._senders.setdefault(node.topic, []).append(node.name)
        self._earliest: dict[str, int] = {}
        """The earliest stage at which all users of a store can stand."""

    def stages(self) -> dict[str, int]:
        # Each round moves a store at least one stage on, so more rounds than nodes would never end.
        for _ in range(len(self._nodes) + 1):
            stages = self._round()
            moved = False
            for node in self._nodes:
                for store in node.stores if isinstance(node, ProcessorNode) else ():
                    if stages[node.name] > self._earliest.get(store, 0):
                        self._earliest[store] = stages[node.name]
                        moved = True
            if not moved or self._agree(stages):
                return stages
        looped = ", ".join(sorted(self._earliest))
        raise UnsupportedError(
            "A processor behind a repartition uses a store that is written in front of it, "
            f"which one pass over a batch cannot do. Stores involved: {looped}. "
            "Read the table from a topic of its own instead."
        )

    def _agree(self, stages: dict[str, int]) -> bool:
        users = [(n, s) for n in self._nodes if isinstance(n, ProcessorNode) for s in n.stores]
        return all(stages[node.name] == self._earliest[store] for node, store in users)

    def _round(self) -> dict[str, int]:
        stages: dict[str, int] = {}
        for node in self._nodes:
            if isinstance(node, SourceNode):
                senders = [stages[name] for topic in node.topics for name in self._senders.get(topic, ())]
                stages[node.name] = 1 + max(senders) if node.internal else 0
            else:
                above = max(stages[parent] for parent in node.parents)
                stores = node.stores if isinstance(node, ProcessorNode) else ()
                stages[node.name] = max([above, *(max(1, self._earliest.get(s, 1)) for s in stores)])
        return stages

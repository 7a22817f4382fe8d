"""The physical plan: the stages of a query, for a topology and the partition counts of its topics."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from brookmere.errors import Fault, TopologyError
from brookmere.plan.exchanges import boundaries
from brookmere.plan.placement import place
from brookmere.plan.python_passes import with_python_passes
from brookmere.topology.nodes import Node, ProcessorNode, SourceNode, Topology
from brookmere.topology.partitions import partition_counts
from brookmere.topology.python_code import is_python
from brookmere.topology.validation import check_partitions


@dataclass(frozen=True, slots=True)
class Stage:
    """Nodes that run together: in the kernel, or all of them in Python.

    Stage 0 and the stages after it, up to the first exchange, run per source partition and without state. The
    others run per task.
    """

    number: int
    nodes: tuple[Node, ...]
    is_python: bool = False
    exchange: bool = False
    """Rows are exchanged between tasks before it, and a new Spark operator begins."""

    @property
    def stores(self) -> tuple[str, ...]:
        """The stores of the stage, each once, in the order of its processors."""
        processors = [node for node in self.nodes if isinstance(node, ProcessorNode)]
        names = (name for node in processors for name in node.stores if name in node.operator.kept_stores)
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

    @property
    def chains(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the stages that run inside one operator of Spark; those of chain 0 have no state."""
        found: list[tuple[int, ...]] = [()]
        for stage in self.stages:
            if stage.exchange:
                found.append(())
            found[-1] = (*found[-1], stage.number)
        return tuple(found)

    def chain_of(self, stage: int) -> int:
        """Return the number of the chain that a stage belongs to."""
        return next(number for number, chain in enumerate(self.chains) if stage in chain)

    def operator_of(self, stage: int) -> int:
        """Return Spark's number of the operator of a stage with state; Spark counts from the end."""
        return len(self.chains) - 1 - self.chain_of(stage)

    def stage_of(self) -> dict[str, int]:
        """Return the number of the stage of every node."""
        return {node.name: stage.number for stage in self.stages for node in stage.nodes}

    def topics_of(self, source: SourceNode) -> tuple[str, ...]:
        """Return the topics that a source reads, a pattern's included."""
        return _topics_of(source, self.partitions)


def plan(topology: Topology, partitions: Mapping[str, int]) -> Plan:
    """Return the stages of `topology`; `partitions` has the counts of the existing topics.

    Raises:
        TopologyError: a source topic is unknown, or co-partitioned topics have different counts.
    """
    sources = [n for n in topology.nodes if isinstance(n, SourceNode) and not n.internal]
    counts = {t: n for t, n in partitions.items() if any(t in _topics_of(s, partitions) for s in sources)}
    repartitions = partition_counts(topology, partitions)
    faults = check_partitions(topology, {**counts, **repartitions})
    topology = with_python_passes(topology)
    stage_of = place(topology)
    last = max(stage_of.values(), default=0)
    faults += _limits(last + 1, {**counts, **repartitions})
    if faults:
        raise TopologyError(faults)
    exchanges = boundaries(topology, stage_of)
    return Plan(
        topology=topology,
        stages=tuple(
            _stage(number, [n for n in topology.nodes if stage_of[n.name] == number], number in exchanges)
            for number in range(last + 1)
        ),
        topics=tuple(dict.fromkeys(t for s in sources for t in _topics_of(s, partitions))),
        partitions={**counts, **repartitions},
    )


def _stage(number: int, nodes: list[Node], exchange: bool) -> Stage:
    return Stage(number, tuple(nodes), any(is_python(node) for node in nodes), exchange)


MAX_STAGES = 16
MAX_PARTITIONS = 8192
"""Limits set by the bits of the order numbers in the kernel's rows."""


def _limits(stages: int, partitions: Mapping[str, int]) -> list[Fault]:
    faults = [
        Fault(f"The topic {topic!r} has {count} partitions, more than {MAX_PARTITIONS}", None, "Use fewer")
        for topic, count in partitions.items()
        if count > MAX_PARTITIONS
    ]
    if stages > MAX_STAGES:
        what = (
            f"The program has {stages} stages, more than {MAX_STAGES}: each repartition in a row begins one, "
            "and so does each change between Python steps and others"
        )
        remedy = (
            "Put Python steps next to each other, or write to a topic in between and read it in a second "
            "program"
        )
        faults.append(Fault(what, None, remedy))
    return faults


def _topics_of(source: SourceNode, partitions: Mapping[str, int]) -> tuple[str, ...]:
    if source.pattern is None:
        return source.topics
    return tuple(sorted(t for t in partitions if re.fullmatch(source.pattern, t)))

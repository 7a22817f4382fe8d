"""The partition counts of repartitions, which follow from those of the topics that are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from brookmere.errors import Fault, TopologyError
from brookmere.names import nearest
from brookmere.topology.nodes import SinkNode, SourceNode, Topology


def partition_counts(topology: Topology, counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many partitions each repartition has, given the counts of the topics that are read.

    The number is the one that `repartition(partitions=...)` asks for, or else the largest among the
    topics that feed the sub-topology in front of it; co-partitioned repartitions get the same number.

    Raises:
        TopologyError: a topic that the program reads is not in `counts`.
    """
    flows = _flows(topology, counts)
    known = dict(counts)
    known.update({r.topic: r.partitions for r in topology.repartitions if r.partitions is not None})
    open_topics = [r.topic for r in topology.repartitions if r.partitions is None]
    while open_topics:
        topic = _next(open_topics, flows, known)
        known[topic] = max(known[t] for t in _feeding(topic, flows) if t in known)
        open_topics.remove(topic)
    _align(topology, known)
    return {r.topic: known[r.topic] for r in topology.repartitions}


@dataclass(frozen=True, slots=True)
class _Flow:
    """The topics a sub-topology reads, and the repartitions it writes."""

    reads: frozenset[str]
    writes: frozenset[str]


def _flows(topology: Topology, counts: Mapping[str, int]) -> list[_Flow]:
    by_name = {node.name: node for node in topology.nodes}
    flows, faults = [], []
    for part in topology.subtopologies:
        nodes = [by_name[name] for name in part.nodes]
        reads: set[str] = set()
        for node in nodes:
            if isinstance(node, SourceNode) and not node.is_global:
                topics = _topics(node, counts)
                faults += [] if node.internal else _unknown(node, topics, counts)
                reads.update(topics)
        sinks = [node for node in nodes if isinstance(node, SinkNode) and node.internal]
        writes = {sink.topic for sink in sinks if isinstance(sink.topic, str)}
        flows.append(_Flow(frozenset(reads), frozenset(writes)))
    if faults:
        raise TopologyError(faults)
    return flows


def _topics(node: SourceNode, counts: Mapping[str, int]) -> tuple[str, ...]:
    if node.pattern is None:
        return node.topics
    return tuple(topic for topic in counts if re.fullmatch(node.pattern, topic))


def _unknown(node: SourceNode, topics: Iterable[str], counts: Mapping[str, int]) -> list[Fault]:
    where = f"node {node.name}, {node.location}" if node.location else f"node {node.name}"
    if not topics:
        return [
            Fault(f"No topic matches pattern {node.pattern!r}", where, "Create one or correct the pattern")
        ]
    faults = []
    for topic in topics:
        if topic not in counts:
            similar = nearest(topic, counts)
            remedy = "Create it before the start" + (f"; did you mean {similar!r}?" if similar else "")
            faults.append(Fault(f"Topic {topic!r} does not exist", where, remedy))
    return faults


def _feeding(topic: str, flows: Iterable[_Flow]) -> set[str]:
    return {read for flow in flows if topic in flow.writes for read in flow.reads}


def _next(open_topics: list[str], flows: list[_Flow], known: Mapping[str, int]) -> str:
    # A merge can lead a repartition back into the sub-topology it came from. Then no repartition of
    # that circle has all its inputs known, and the first with any known input starts.
    for ready in (all, any):
        for topic in open_topics:
            if ready(read in known for read in _feeding(topic, flows)):
                return topic
    raise TopologyError(
        [
            Fault(
                f"The number of partitions of {', '.join(open_topics)} cannot be found",
                None,
                "Set it with repartition(partitions=...)",
            )
        ]
    )


def _align(topology: Topology, known: dict[str, int]) -> None:
    free = {r.topic for r in topology.repartitions if r.partitions is None}
    for group in topology.copartitioned:
        fixed = [known[topic] for topic in group if topic not in free]
        # check_partitions reports two fixed numbers that differ.
        number = fixed[0] if fixed else max(known[topic] for topic in group)
        known.update({topic: number for topic in group if topic in free})

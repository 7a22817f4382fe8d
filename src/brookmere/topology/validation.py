"""Validates a topology and reports all faults together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from brookmere.errors import Fault, TopologyError
from brookmere.names import illegal, nearest
from brookmere.serde import Serde
from brookmere.topology.function import Function, Location
from brookmere.topology.nodes import ProcessorNode, SinkNode, SourceNode, Topology
from brookmere.topology.operators import Process
from brookmere.topology.partitions import partition_counts

SHORT_KINDS = ("count", "sum", "avg", "min", "max", "first", "last", "collect_list", "collect_set", "top_n")
"""The short aggregates there are."""

UNDOABLE_KINDS = ("count", "sum", "avg")
"""Those from which the value of a replaced table row can be taken out again."""


_SHARED_KINDS = ("key_value", "window", "session", "versioned")


def validate(topology: Topology) -> list[Fault]:
    """Return all faults that the finished graph shows by itself."""
    return [
        *_nothing_to_do(topology),
        *_duplicate_repartitions(topology),
        *_duplicate_nodes(topology),
        *_topics_read_twice(topology),
        *_patterns_over_topics(topology),
        *_duplicate_stores(topology),
        *_unknown_stores(topology),
        *_refused_functions(topology),
        *_missing_serdes(topology),
        *_unequal_repartitions(topology),
    ]


def check_name(kind: str, name: str, location: Location | None) -> Fault | None:
    """Return the fault of a name that a user gave to an operator, a store or a topic."""
    reason = illegal(name)
    if reason is None:
        return None
    remedy = "Use up to 249 ASCII letters and digits, '.', '_' and '-'"
    return Fault(f"The {kind} name {name!r} is illegal: {reason}", place(None, location), remedy)


def check_partitions(topology: Topology, counts: Mapping[str, int]) -> list[Fault]:
    """Return a fault for each group of co-partitioned topics with unequal partition counts."""
    try:
        known = {**counts, **partition_counts(topology, counts)}
    except TopologyError as error:
        return error.faults
    return [_unequal(group, known) for group in topology.copartitioned if len({known[t] for t in group}) > 1]


def place(node: str | None, location: Location | None) -> str | None:
    """Return the words for a place in the program: its node, its file and line, or both."""
    parts = [f"node {node}"] if node else []
    return ", ".join([*parts, str(location)] if location else parts) or None


def _nothing_to_do(topology: Topology) -> Iterator[Fault]:
    if not topology.nodes:
        yield Fault("The topology is empty", None, "Add a stream, a table or a global table before build()")


def _duplicate_repartitions(topology: Topology) -> Iterator[Fault]:
    first: dict[str, Location | None] = {}
    for sink in _internal_sinks(topology):
        topic = str(sink.topic)
        if topic not in first:
            first[topic] = sink.location
            continue
        what = f"Two repartitions are called {topic!r}, the first at {first[topic]}"
        remedy = "Give each group that is repartitioned a name= of its own"
        yield Fault(what, place(None, sink.location), remedy)


def _duplicate_nodes(topology: Topology) -> Iterator[Fault]:
    # The nodes of a repartition are called after it. If there are two of it, one fault says it all.
    reported = _nodes_of_duplicate_repartitions(topology)
    first: dict[str, Location | None] = {}
    for node in topology.nodes:
        if node.name in reported:
            continue
        if node.name not in first:
            first[node.name] = node.location
            continue
        earlier = first[node.name]
        what = f"Two nodes are called {node.name!r}" + (f", the first at {earlier}" if earlier else "")
        remedy = "Give each operator a name= of its own"
        yield Fault(what, place(node.name, node.location), remedy)


def _topics_read_twice(topology: Topology) -> Iterator[Fault]:
    reader: dict[str, SourceNode] = {}
    for node in _sources(topology):
        for topic in node.topics:
            first = reader.setdefault(topic, node)
            if first is node or (first.internal and node.internal):
                continue
            what = f"Topic {topic!r} has already been registered by another source, {first.name}"
            if set(first.topics) != set(node.topics):
                what += f": {list(first.topics)} and {list(node.topics)} overlap, but are not equal"
            remedy = "Read the topic once and use the handle several times, or copy it to a second topic"
            yield Fault(what, place(node.name, node.location), remedy)


def _patterns_over_topics(topology: Topology) -> Iterator[Fault]:
    named = {topic: node for node in _sources(topology) for topic in node.topics if not node.internal}
    for node in _sources(topology):
        if node.pattern is None:
            continue
        for topic, other in named.items():
            if re.fullmatch(node.pattern, topic):
                what = f"Pattern {node.pattern!r} matches topic {topic!r}, which {other.name} reads, too"
                remedy = "Narrow the pattern, or leave the topic to it"
                yield Fault(what, place(node.name, node.location), remedy)


def _duplicate_stores(topology: Topology) -> Iterator[Fault]:
    users = {name: node for node in reversed(_processors(topology)) for name in node.stores}
    seen: set[str] = set()
    for store in topology.stores:
        if store.name in seen:
            last = [node for node in _processors(topology) if store.name in node.stores][-1]
            what = f"Store {store.name!r} exists already, made by {users[store.name].name}"
            yield Fault(what, place(last.name, last.location), "Give each result a store= of its own")
        seen.add(store.name)


def _unknown_stores(topology: Topology) -> Iterator[Fault]:
    kinds = {store.name: store.kind for store in topology.stores}
    shared = [name for name, kind in kinds.items() if kind in _SHARED_KINDS]
    for node in _processors(topology):
        if not isinstance(node.operator, Process):
            continue
        for name in dict.fromkeys((*node.stores, *node.operator.reads)):
            if name in shared:
                continue
            found = "belongs to an operator" if name in kinds else "does not exist"
            similar = nearest(name, shared)
            remedy = f"Did you mean {similar!r}?" if similar else "Declare it with add_state_store() before"
            yield Fault(f"The store {name!r} {found}", place(node.name, node.location), remedy)


def _refused_functions(topology: Topology) -> Iterator[Fault]:
    for node in topology.nodes:
        for function in _functions(node):
            if function.fault is not None:
                yield function.fault


def _functions(part: object) -> Iterator[Function]:
    if isinstance(part, Function):
        yield part
    elif isinstance(part, tuple):
        yield from (function for each in part for function in _functions(each))
    elif is_dataclass(part) and not isinstance(part, Serde | type):
        yield from (function for each in fields(part) for function in _functions(getattr(part, each.name)))


def _missing_serdes(topology: Topology) -> Iterator[Fault]:
    for node in _sources(topology):
        missing = [part for part, serde in (("key", node.key), ("value", node.value)) if serde is None]
        if missing and not node.internal:
            what = f"{_read_by(node)} has no serde for its {' and '.join(missing)}"
            hint = ", ".join(f"{part}=" for part in missing)
            remedy = f"Pass {hint} here, or a default to StreamsBuilder"
            yield Fault(what, place(node.name, node.location), remedy)


def _unequal_repartitions(topology: Topology) -> Iterator[Fault]:
    fixed = {r.topic: r.partitions for r in topology.repartitions if r.partitions is not None}
    for group in topology.copartitioned:
        if all(topic in fixed for topic in group) and len({fixed[topic] for topic in group}) > 1:
            yield _unequal(group, fixed)


def _unequal(group: tuple[str, ...], counts: Mapping[str, int]) -> Fault:
    found = ", ".join(f"{topic} has {counts[topic]}" for topic in group)
    what = f"Topics that are joined or grouped together have unequal numbers of partitions: {found}"
    return Fault(what, None, "Give them the same number, or put repartition(partitions=...) in front")


def _internal_sinks(topology: Topology) -> list[SinkNode]:
    return [node for node in topology.nodes if isinstance(node, SinkNode) and node.internal]


def _nodes_of_duplicate_repartitions(topology: Topology) -> set[str]:
    sinks = _internal_sinks(topology)
    uses = Counter(sink.topic for sink in sinks)
    twice = [sink for sink in sinks if uses[sink.topic] > 1]
    topics = {sink.topic for sink in twice}
    filters = {f"{topic}-filter" for topic in topics}
    sources = {node.name for node in _sources(topology) if not topics.isdisjoint(node.topics)}
    return {sink.name for sink in twice} | sources | filters


def _sources(topology: Topology) -> list[SourceNode]:
    return [node for node in topology.nodes if isinstance(node, SourceNode)]


def _processors(topology: Topology) -> list[ProcessorNode]:
    return [node for node in topology.nodes if isinstance(node, ProcessorNode)]


def _read_by(node: SourceNode) -> str:
    if node.pattern is not None:
        return f"Pattern {node.pattern!r}"
    return f"Topic {', '.join(map(repr, node.topics))}"

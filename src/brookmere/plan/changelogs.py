"""The changelogs of a plan: which stores have one, which topic it is, and the sinks that write it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from brookmere.plan.stages import Plan
from brookmere.topology.nodes import ProcessorNode, SinkNode, SourceNode, Store, Topology
from brookmere.topology.operators import TableSource
from brookmere.topology.times import RecordClock

_QUERYABLE = ("key_value", "window", "session", "versioned")


@dataclass(frozen=True, slots=True)
class Changelog:
    """The topic from which replicas read the rows of a store."""

    store: Store
    topic: str
    partitions: int
    """As many as the store has tasks; 0 where the topic is the table's own source."""
    owners: tuple[str, ...] = ()
    """The nodes that change the store; empty if the topic is the table's own source."""

    @property
    def is_source(self) -> bool:
        """Whether the table reads the topic directly, so that no other needs to be written."""
        return not self.owners


def changelog_topic(application: str, store: str) -> str:
    """Return the name that Kafka Streams, too, gives to the changelog of a store.

    >>> changelog_topic("words", "counts")
    'words-counts-changelog'
    """
    return f"{application}-{store}-changelog"


def changelogs(
    plan: Plan, *, disabled: Collection[str] = (), default_clock: bool = True
) -> tuple[Changelog, ...]:
    """Return the changelogs of the stores that can be queried, in the order of the stores.

    A table that reads a topic directly uses that topic. `disabled` names stores without a changelog.
    `default_clock` is false if sources give records another time than their topics do.
    """
    topology = plan.topology
    found = []
    for store in topology.stores:
        if not store.queryable or not store.logged or store.kind not in _QUERYABLE or store.name in disabled:
            continue
        owners = topology.keepers(store.name)
        source = _source(topology, owners, default_clock)
        if source is not None:
            found.append(Changelog(store, source, 0))
        elif owners:
            topic = changelog_topic(topology.application_id, store.name)
            names = tuple(owner.name for owner in owners)
            found.append(Changelog(store, topic, _tasks(plan, names[0]), names))
    return tuple(found)


def with_changelogs(plan: Plan, logs: Collection[Changelog]) -> Plan:
    """Return the plan with a sink for each changelog that is written, after all its nodes."""
    sinks = [_sink(plan.topology, log) for log in logs if not log.is_source]
    stage_of = plan.stage_of()
    return replace(
        plan,
        topology=replace(plan.topology, nodes=(*plan.topology.nodes, *sinks)),
        stages=tuple(
            replace(s, nodes=(*s.nodes, *(k for k in sinks if stage_of[k.parents[0]] == s.number)))
            for s in plan.stages
        ),
    )


def _sink(topology: Topology, log: Changelog) -> SinkNode:
    owner = topology.node(log.owners[0])
    return SinkNode(
        # No node that a user names can have a name with blanks.
        name=f"changelog of {log.store.name}",
        parents=log.owners,
        topic=log.topic,
        key=log.store.key,
        value=log.store.value,
        changelog_of=log.store.name,
        location=owner.location,
    )


def _source(topology: Topology, owners: list[ProcessorNode], default_clock: bool) -> str | None:
    """Return the topic whose records are the rows of a table, with the same timestamps."""
    if len(owners) != 1 or not isinstance(owners[0].operator, TableSource):
        return None
    node = topology.node(owners[0].parents[0])
    # The topic still has the rows that have expired.
    if owners[0].operator.ttl_ms is not None or not isinstance(node, SourceNode) or node.internal:
        return None
    own_time = node.timestamp is RecordClock.RECORD or (
        node.timestamp is None and (default_clock or node.is_global)
    )
    if node.pattern is not None or len(node.topics) != 1 or not own_time:
        return None
    return node.topics[0]


def _tasks(plan: Plan, owner: str) -> int:
    part = next(part for part in plan.topology.subtopologies if owner in part.nodes)
    nodes = (plan.topology.node(name) for name in part.nodes)
    sources = [node for node in nodes if isinstance(node, SourceNode) and not node.is_global]
    topics = [topic for s in sources for topic in (s.topics if s.internal else plan.topics_of(s))]
    return max(plan.partitions[topic] for topic in topics)

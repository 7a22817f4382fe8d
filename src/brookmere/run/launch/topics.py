"""The topics that a topology reads and writes: which exist, which to create, and which are missing."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field

from brookmere.config import Config
from brookmere.errors import Fault, TopologyError, UnknownTopicError
from brookmere.names import nearest
from brookmere.plan.changelogs import changelog_topic
from brookmere.topics import AnyTopics
from brookmere.topology.nodes import SinkNode, SourceNode, Topology
from brookmere.topology.validation import place


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """The topics a topology needs."""

    partitions: dict[str, int]
    """The number of partitions of the topics that are read."""
    ids: dict[str, str]
    """The ids of those that exist."""
    written: tuple[str, ...]
    """The topics that are written, if their names are known, and the dead-letter topic."""
    new: dict[str, int]
    """Topics to create, with their number of partitions."""
    new_partitions: int
    """The number of partitions of topics whose name comes from a record."""
    settings: dict[str, dict[str, str]] = field(default_factory=dict)
    """The settings of topics to create, where they differ from the defaults."""
    faults: tuple[Fault, ...] = ()
    """What is wrong with existing topics; `check` raises it, after the state was compared."""

    def check(self) -> None:
        """Refuse topics that do not match.

        Raises:
            TopologyError: lists all of them.
        """
        if self.faults:
            raise TopologyError(list(self.faults))


def plan_topics(topology: Topology, topics: AnyTopics, config: Config) -> TopicPlan:
    """Return what to read, to write and to create.

    Raises:
        TopologyError: input topics are missing; the error lists all of them.
        AccessError: Kafka does not let this user see one of them.
    """
    sources = [n for n in topology.nodes if isinstance(n, SourceNode) and not n.internal]
    sinks = [n for n in topology.nodes if isinstance(n, SinkNode) and not n.internal]
    there = topics.names()
    matched = _matchable(topology, topology.application_id, there)
    read = {topic: source for source in sources for topic in _topics(source, matched)}
    found = {name: topics[name] for name in read if name in there}
    counts = {name: topic.partitions for name, topic in found.items()}
    own = [counts[name] for name, source in read.items() if name in counts and not source.is_global]
    partitions = config.default_partitions or max(own, default=1)
    written = tuple(dict.fromkeys(sink.topic for sink in sinks if isinstance(sink.topic, str)))
    missing = {name: source for name, source in read.items() if name not in there}
    if not config.auto_create_topics:
        faults = [
            _missing(name, source, there, topics.command(f"create {name} --partitions {partitions}"))
            for name, source in missing.items()
            # The application creates what it writes itself.
            if name not in written
        ]
        faults += [_unmatched(source) for source in sources if not _topics(source, matched)]
        if faults:
            _refuse_hidden(missing, topics)
            raise TopologyError(faults)
    dead = config.errors_dead_letter_queue_topic_name
    new = {name: partitions for name in (*missing, *written) if name not in there}
    if dead is not None and dead not in there:
        new.setdefault(dead, 1)
    return TopicPlan(
        partitions={**counts, **{name: new[name] for name in missing}},
        ids={name: topic.id for name, topic in found.items()},
        written=written if dead is None else (*written, dead),
        new=new,
        new_partitions=partitions,
    )


def source_topics(topology: Topology, application: str, there: Collection[str]) -> dict[str, SourceNode]:
    """Return the existing topics that a topology reads, with their sources."""
    sources = [n for n in topology.nodes if isinstance(n, SourceNode) and not n.internal]
    matched = _matchable(topology, application, there)
    found = {topic: source for source in sources for topic in _topics(source, matched)}
    return {topic: source for topic, source in found.items() if topic in there}


def _matchable(topology: Topology, application: str, there: Collection[str]) -> list[str]:
    # A pattern must not match the application's own changelogs.
    own_logs = {changelog_topic(application, store.name) for store in topology.stores}
    return [name for name in there if name not in own_logs]


def _topics(source: SourceNode, there: Collection[str]) -> tuple[str, ...]:
    if source.pattern is None:
        return source.topics
    return tuple(name for name in there if re.fullmatch(source.pattern, name))


def _refuse_hidden(names: Collection[str], topics: AnyTopics) -> None:
    """Raise AccessError for a topic that exists but that this user may not see."""
    for name in names:
        with suppress(UnknownTopicError):
            topics[name]


def _missing(name: str, source: SourceNode, there: Collection[str], create: str) -> Fault:
    close = nearest(name, there)
    hint = f"Did you mean {close!r}? If not, create it" if close else "Create it"
    return Fault(
        f"The topic {name!r}, which the program reads, does not exist",
        place(source.name, source.location),
        f"{hint}: `{create}`",
    )


def _unmatched(source: SourceNode) -> Fault:
    return Fault(
        f"No topic matches the pattern {source.pattern!r}",
        place(source.name, source.location),
        "Create one that does, or correct the pattern",
    )

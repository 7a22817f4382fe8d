"""The topics of changelogs: which ones a plan needs, their settings, and whether existing ones match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from brookmere.config import Config, topic_settings
from brookmere.errors import ConfigError, Fault, StateError
from brookmere.names import nearest
from brookmere.plan.changelogs import Changelog, changelogs, with_changelogs
from brookmere.plan.stages import Plan
from brookmere.run.compile.compiler import LogStart
from brookmere.run.evolution.identity import Identity
from brookmere.run.launch.topics import TopicPlan
from brookmere.topics import AnyTopic, AnyTopics
from brookmere.topics.times import now_ms
from brookmere.topology.nodes import SinkNode, Store
from brookmere.topology.windows import FOREVER

_ALL = "all"
# As in Kafka Streams; the setting for windows does not affect it.
_VERSIONS_LAG_MS = 86_400_000


def with_changelog_topics(
    plan: Plan, needed: TopicPlan, topics: AnyTopics, config: Config
) -> tuple[Plan, TopicPlan]:
    """Return the plan with sinks for its changelogs, and the needed topics with those of the changelogs.

    Existing topics that cannot be changelogs become faults of the needed topics.

    Raises:
        ConfigError: changelog.disabled names a store that does not exist.
    """
    written = [log for log in changelogs_of(plan, config) if not log.is_source]
    names = topics.names() if written else []
    there = {log.topic for log in written if log.topic in names}
    wanted = {log.topic: changelog_settings(log.store, config) for log in written}
    faults = [
        fault
        for log in written
        if log.topic in there
        for fault in _misfits(log, topics[log.topic], wanted[log.topic]["cleanup.policy"])
    ]
    missing = [log for log in written if log.topic not in there]
    return with_changelogs(plan, written), replace(
        needed,
        written=(*needed.written, *(log.topic for log in written)),
        new={**needed.new, **{log.topic: log.partitions for log in missing}},
        settings={**needed.settings, **{log.topic: wanted[log.topic] for log in missing}},
        faults=(*needed.faults, *faults),
    )


def changelogs_of(plan: Plan, config: Config) -> tuple[Changelog, ...]:
    """Return the changelogs of the stores that can be queried, under the settings of an application.

    Raises:
        ConfigError: changelog.disabled names a store that does not exist.
    """
    wall_clock = config.default_timestamp_extractor == "wall-clock"
    return changelogs(plan, disabled=_disabled(plan, config), default_clock=not wall_clock)


def log_starts(
    plan: Plan, needed: TopicPlan, topics: AnyTopics, before: Identity | None
) -> dict[str, LogStart]:
    """Return by store since when its changelog exists.

    A changelog starts over if its topic was recreated, or if the previous version did not write it.

    Raises:
        StateError: there is no state, but there are changelogs of an earlier state.
    """
    starts = {}
    if before is None:
        _refuse_remains(plan, needed, topics)
    for store, topic in _log_topics(plan).items():
        known = None if before is None or topic in needed.new else before.changelogs.get(store)
        is_same = known is not None and topics[topic].id == known[0]
        starts[store] = LogStart(known[1]) if known and is_same else LogStart(now_ms(), before is not None)
    return starts


def log_ids(plan: Plan, starts: Mapping[str, LogStart], topics: AnyTopics) -> dict[str, tuple[str, int]]:
    """Return what the next start needs to know about the changelogs, which exist by now."""
    return {store: (topics[topic].id, starts[store].since) for store, topic in _log_topics(plan).items()}


def _refuse_remains(plan: Plan, needed: TopicPlan, topics: AnyTopics) -> None:
    there = [topic for topic in _log_topics(plan).values() if topic not in needed.new]
    remains = [name for name in there if topics[name].end_offsets() != topics[name].start_offsets()]
    if remains:
        raise StateError(
            f"The application {plan.topology.application_id!r} starts from scratch, without state. "
            f"Found: rows of an earlier state in {', '.join(remains)}, which do not belong to the new one. "
            "Delete these topics with `brookmere reset` or `brookmere topics delete`, or restore the state "
            "directory."
        )


def _log_topics(plan: Plan) -> dict[str, str]:
    sinks = [node for node in plan.topology.nodes if isinstance(node, SinkNode)]
    return {sink.changelog_of: str(sink.topic) for sink in sinks if sink.changelog_of is not None}


def changelog_settings(store: Store, config: Config) -> dict[str, str]:
    """Return the settings of a store's changelog, as Kafka Streams chooses them.

    On Kafka, settings with the prefix `topic.` take precedence, except over retention.
    """
    policy = "compact,delete" if store.kind in ("window", "session") else "compact"
    settings = {"cleanup.policy": policy, "message.timestamp.type": "CreateTime"}
    if config.on_kafka:
        settings |= topic_settings(config)
    retention = FOREVER if store.retention_ms is None else store.retention_ms
    if store.kind in ("window", "session"):
        kept = retention + config.windowstore_changelog_additional_retention_ms
        settings["retention.ms"] = str(kept if kept < FOREVER else -1)
        if not config.on_kafka:
            # When an application reads old records, old windows must live as long as current ones.
            settings["retention.clock"] = "records"
    elif store.kind == "versioned":
        settings["min.compaction.lag.ms"] = str(min(retention + _VERSIONS_LAG_MS, FOREVER))
    return settings


def _disabled(plan: Plan, config: Config) -> Sequence[str]:
    named = [store.name for store in plan.topology.stores if store.queryable]
    chosen = config.changelog_disabled
    if _ALL in chosen and _ALL not in named:
        return named
    faults = [_unknown(name, named) for name in chosen if name not in named]
    if faults:
        raise ConfigError(faults)
    return chosen


def _unknown(name: str, named: Sequence[str]) -> Fault:
    close = nearest(name, named)
    remedy = f"Did you mean {close!r}?" if close else "Name a store that the program gives a name with store="
    return Fault(f"The setting changelog.disabled names {name!r}, which is not a store", None, remedy)


def _misfits(log: Changelog, topic: AnyTopic, policy: str) -> list[Fault]:
    what = f"The topic {log.topic!r} cannot be the changelog of the store {log.store.name!r}"
    remedy = (
        "Delete it if nobody needs it, or run the application under another application.id, "
        "or name the store in changelog.disabled"
    )
    faults = []
    if topic.partitions != log.partitions:
        found = (
            f"the store has {_count(log.partitions, 'task')}, found {_count(topic.partitions, 'partition')}"
        )
        faults.append(Fault(f"{what}: {found}", None, remedy))
    its = topic.config.cleanup_policy
    if _words(its) != _words(policy):
        faults.append(Fault(f"{what}: its cleanup.policy must be {policy}, found {its}", None, remedy))
    return faults


def _words(policy: str) -> set[str]:
    return {word.strip() for word in policy.split(",")}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")

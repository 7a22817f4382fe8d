"""Turns the changelogs of a plan into the topics that must be there for them, or into what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brookmere.config import Config, topic_settings
from brookmere.errors import ConfigError, Fault, TopologyError, nearest
from brookmere.plan.changelogs import Changelog, changelogs, with_changelogs
from brookmere.plan.stages import Plan
from brookmere.run.inputs import TopicPlan
from brookmere.topics import AnyTopic, AnyTopics
from brookmere.topology.nodes import Store
from brookmere.topology.windows import FOREVER

_ALL = "all"
# Kafka Streams' own; the setting for windows has no say in it.
_VERSIONS_LAG_MS = 86_400_000


def logged(plan: Plan, needed: TopicPlan, topics: AnyTopics, config: Config) -> tuple[Plan, TopicPlan]:
    """Return the plan with the sinks of its changelogs, and the topics with those of the changelogs.

    Raises:
        TopologyError: a topic that would have to be a changelog is another one; the error lists all of them.
        ConfigError: a store that is to go without does not exist.
    """
    disabled = _disabled(plan, config)
    wall_clock = config.default_timestamp_extractor == "wall-clock"
    found = changelogs(plan, disabled=disabled, default_clock=not wall_clock)
    written = [log for log in found if not log.is_source]
    names = topics.names() if written else []
    there = {log.topic for log in written if log.topic in names}
    wanted = {log.topic: changelog_settings(log.store, config) for log in written}
    faults = [
        fault
        for log in written
        if log.topic in there
        for fault in _misfits(log, topics[log.topic], wanted[log.topic]["cleanup.policy"])
    ]
    if faults:
        raise TopologyError(faults)
    missing = [log for log in written if log.topic not in there]
    return with_changelogs(plan, written), replace(
        needed,
        written=(*needed.written, *(log.topic for log in written)),
        new={**needed.new, **{log.topic: log.partitions for log in missing}},
        settings={**needed.settings, **{log.topic: wanted[log.topic] for log in missing}},
    )


def changelog_settings(store: Store, config: Config) -> dict[str, str]:
    """Return the settings of a store's changelog, as Kafka Streams chooses them.

    On Kafka those with the prefix `topic.` win, except over how long records are kept.
    """
    policy = "compact,delete" if store.kind in ("window", "session") else "compact"
    settings = {"cleanup.policy": policy, "message.timestamp.type": "CreateTime"}
    if config.on_kafka:
        settings |= topic_settings(config)
    retention = FOREVER if store.retention_ms is None else store.retention_ms
    if store.kind in ("window", "session"):
        kept = retention + config.windowstore_changelog_additional_retention_ms
        settings["retention.ms"] = str(kept if kept < FOREVER else -1)
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
    return Fault(f"The setting changelog.disabled names {name!r}, which is no store", None, remedy)


def _misfits(log: Changelog, topic: AnyTopic, policy: str) -> list[Fault]:
    what = f"The topic {log.topic!r} cannot be the changelog of the store {log.store.name!r}"
    remedy = (
        "Delete it if nobody needs it any more, or run the application under another application.id, "
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

"""Turns the changelogs of a plan into the topics that must be there for them, or into what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from brookmere.config import Config
from brookmere.errors import ConfigError, Fault, TopologyError, nearest
from brookmere.plan.changelogs import Changelog, changelogs, with_changelogs
from brookmere.plan.stages import Plan
from brookmere.run.inputs import TopicPlan
from brookmere.topology.nodes import Store
from brookmere.topology.windows import FOREVER

_ALL = "all"
# Kafka Streams' own; the setting for windows has no say in it.
_VERSIONS_LAG_MS = 86_400_000


def logged(plan: Plan, needed: TopicPlan, topics: Any, config: Config) -> tuple[Plan, TopicPlan]:
    """Return the plan with the sinks of its changelogs, and the topics with those of the changelogs.

    Raises:
        TopologyError: a topic that would have to be a changelog is another one; the error lists all of them.
        ConfigError: a store that is to go without does not exist.
    """
    disabled = _disabled(plan, config)
    wall_clock = config.default_timestamp_extractor == "wall-clock"
    found = changelogs(plan, disabled=disabled, default_clock=not wall_clock)
    written = [log for log in found if not log.is_source]
    there = {log.topic for log in written if log.topic in topics}
    faults = [fault for log in written if log.topic in there for fault in _misfits(log, topics[log.topic])]
    if faults:
        raise TopologyError(faults)
    missing = [log for log in written if log.topic not in there]
    return with_changelogs(plan, written), replace(
        needed,
        written=(*needed.written, *(log.topic for log in written)),
        new={**needed.new, **{log.topic: log.partitions for log in missing}},
        settings={**needed.settings, **{log.topic: topic_settings(log.store, config) for log in missing}},
    )


def topic_settings(store: Store, config: Config) -> dict[str, str]:
    """Return the settings of a store's changelog, as Kafka Streams chooses them."""
    settings = {"cleanup.policy": _policy(store), "message.timestamp.type": "CreateTime"}
    retention = FOREVER if store.retention_ms is None else store.retention_ms
    if store.kind in ("window", "session"):
        kept = retention + config.windowstore_changelog_additional_retention_ms
        settings["retention.ms"] = str(kept if kept < FOREVER else -1)
    elif store.kind == "versioned":
        settings["min.compaction.lag.ms"] = str(min(retention + _VERSIONS_LAG_MS, FOREVER))
    return settings


def _policy(store: Store) -> str:
    return "compact,delete" if store.kind in ("window", "session") else "compact"


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


def _misfits(log: Changelog, topic: Any) -> list[Fault]:
    what = f"The topic {log.topic!r} cannot be the changelog of the store {log.store.name!r}"
    remedy = (
        "Delete it if nobody needs it any more, or run the application under another application.id, "
        "or name the store in changelog.disabled"
    )
    faults = []
    if topic.partitions != log.partitions:
        found = f"the store has {log.partitions} tasks, found {topic.partitions} partitions"
        faults.append(Fault(f"{what}: {found}", None, remedy))
    policy = ",".join(sorted(_policy_of(topic.config).split(",")))
    if policy != _policy(log.store):
        found = f"its cleanup.policy must be {_policy(log.store)}, found {policy}"
        faults.append(Fault(f"{what}: {found}", None, remedy))
    return faults


def _policy_of(config: Any) -> str:
    # Embedded topics have typed settings, Kafka's come by name.
    found = config.get("cleanup.policy", "delete") if isinstance(config, Mapping) else config.cleanup_policy
    return str(found).replace(" ", "")

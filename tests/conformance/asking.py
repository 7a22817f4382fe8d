"""Runs a scenario, asks replicas of its changelogs for the stores, and tells the first difference."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from brookmere import Bytes, Record, Topics, WindowedKey
from brookmere.config import read
from brookmere.plan.changelogs import Changelog, changelogs, with_changelogs
from brookmere.plan.stages import plan
from brookmere.run.launch.changelogs import changelog_settings
from brookmere.run.launch.queryable_stores import queryable_stores
from brookmere.state import (
    AnyStore,
    Query,
    RangeQuery,
    Replica,
    Row,
    SessionKeyQuery,
    SessionRangeQuery,
    VersionedRangeQuery,
    WindowKeyQuery,
    WindowRangeQuery,
)
from brookmere.testing import TopologyTestDriver
from brookmere.testing.settings import partition_counts
from brookmere.topology.nodes import SinkNode
from tests.conformance.build import build
from tests.conformance.runner import rows_differ
from tests.conformance.scenario import Scenario

_CONFIG = read(None)
_ALL: dict[str, Query] = {
    "key_value": RangeQuery(),
    "window": WindowRangeQuery(),
    "session": SessionRangeQuery(),
    "versioned": VersionedRangeQuery(),
}


def can_be_asked(scenario: Scenario) -> bool:
    """Tell whether a scenario has stores to compare."""
    return bool(scenario.data.get("stores")) and scenario.error is None


def stores_difference(scenario: Scenario, cut: str = "single") -> str | None:
    """Return the first difference between recorded stores and what replicas answer, or None."""
    planned = build(scenario.data["topology"], optimize=scenario.optimize)
    before = plan(planned, partition_counts(planned, 1))
    logs = {log.store.name: log for log in changelogs(before)}
    topology = with_changelogs(before, tuple(logs.values())).topology
    with (
        tempfile.TemporaryDirectory() as directory,
        TopologyTestDriver(topology) as driver,
    ):
        topics = Topics(Path(directory))
        written = _run(scenario, driver, logs, cut)
        for log in logs.values():
            if log.topic not in topics:
                settings = {} if log.is_source else changelog_settings(log.store, _CONFIG)
                topics.create(log.topic, config=settings).append(written[log.topic])
        # Only the compiled program knows the types.
        infos = queryable_stores(driver._compiled, _CONFIG)
        with Replica("scenario", infos, topics, in_memory=True) as replica:
            return _differ(scenario, replica)


def _run(
    scenario: Scenario, driver: TopologyTestDriver, logs: Mapping[str, Changelog], cut: str
) -> dict[str, list[Record]]:
    """Return the records of all changelogs, also of the topics that are the changelogs of their tables."""
    written: dict[str, list[Record]] = {log.topic: [] for log in logs.values()}
    # A program may write the topic of its own table.
    sinks = {node.topic for node in driver._plan.topology.nodes if isinstance(node, SinkNode)}
    outputs = {
        topic: driver.output_topic(topic, key=Bytes(), value=Bytes()) for topic in written if topic in sinks
    }
    for batch in scenario.batches(cut):
        if batch.wall_clock is not None:
            driver.advance_wall_clock(timedelta(milliseconds=batch.wall_clock))
        else:
            driver.pipe_records(batch.records)
        for topic, record in batch.records:
            if topic in written:
                written[topic].append(Record(_raw(record.key), _raw(record.value), record.timestamp))
        for topic, output in outputs.items():
            written[topic] += output.read_records_to_list()
    return written


def _raw(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _differ(scenario: Scenario, replica: Replica) -> str | None:
    for name, recorded in scenario.data["stores"].items():
        if name not in replica:
            return f"store {name}: cannot be asked"
        store = replica[name].wait(timeout="30s")
        rows = store.query(_ALL[store.info.kind]).value
        found = (
            rows_differ(recorded, [(_key(row.key), row.value, row.timestamp) for row in rows])
            or _single_differs(store, rows)
            or _past_differs(store, recorded.get("as_of", ()))
        )
        if found:
            return f"store {name}: {found}"
    return None


def _single_differs(store: AnyStore, rows: list[Row]) -> str | None:
    """Ask for each row by its key alone."""
    for row in rows:
        key = row.key.key if isinstance(row.key, WindowedKey) else row.key
        match store.info.kind:
            case "window":
                alone = store.query(WindowKeyQuery(key, row.key.start, row.key.start)).value
            case "session":
                alone = [one for one in store.query(SessionKeyQuery(key)).value if one.key == row.key]
            case _:
                found = store.get_with_timestamp(key)
                alone = [] if found is None else [Row(key, *found)]
        if [one[:3] for one in alone] != [row[:3]]:
            return f"{row.key} alone: expected {row[:3]}, found {alone}"
    if store.count() != len(rows):
        return f"{len(rows)} rows expected, {store.count()} counted"
    return None


def _past_differs(store: AnyStore, expected: Iterable[Mapping[str, Any]]) -> str | None:
    for row in expected:
        wanted = None if row["value"] is None else (row["value"], row["ts"])
        found = store.get_with_timestamp(row["key"], as_of=row["as_of"])
        if found != wanted:
            return f"{row['key']} as of {row['as_of']}: expected {wanted}, found {found}"
    return None


def _key(key: Any) -> Any:
    if isinstance(key, WindowedKey):
        return {"key": key.key, "start": key.start, "end": key.end}
    return key

"""Replicas through restarts and compactions, set against dictionaries that saw every record."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brookmere as bm
from brookmere.state import (
    AnyStore,
    CountQuery,
    KeyQuery,
    MultiVersionedKeyQuery,
    Query,
    RangeQuery,
    Replica,
    SessionKeyQuery,
    SessionRangeQuery,
    StoreInfo,
    StoreKind,
    VersionedKeyQuery,
    VersionedRangeQuery,
    WindowKeyQuery,
    WindowRangeQuery,
)
from tests.state.drawn import PARTITIONS, SPANS, changes
from tests.state.models import Change, KeyModel, TimedModel, VersionModel
from tests.state.worlds import World

KINDS: tuple[StoreKind, ...] = ("key_value", "window", "session", "versioned")
RETENTION = 15
WINDOW = 10
Model = KeyModel | TimedModel | VersionModel
Step = list[Change] | str
"""Records to append at once, or what happens to replica or topic."""


@dataclass(frozen=True)
class Asked:
    """Questions and what a model answers."""

    query: Query
    expected: Any


def info_of(kind: StoreKind) -> StoreInfo:
    size = WINDOW if kind == "window" else None
    retention = None if kind == "key_value" else RETENTION
    return StoreInfo("store", kind, "log", bm.Bytes(), bm.Bytes(), window_ms=size, retention_ms=retention)


def model_of(kind: StoreKind, found: list[Change]) -> Model:
    made: Model
    match kind:
        case "key_value":
            made = KeyModel(PARTITIONS)
        case "versioned":
            made = VersionModel(RETENTION)
        case _:
            made = TimedModel(RETENTION)
    for change in found:
        made.apply(change)
    return made


def record_of(kind: StoreKind, change: Change) -> bm.Record:
    key = change.key
    if kind in ("window", "session"):
        key += change.time.to_bytes(8, "big")
    if kind == "session":
        key += change.start.to_bytes(8, "big")
    return bm.Record(key, change.value, change.timestamp, partition=change.partition)


def questions(kind: StoreKind, model: Any, keys: set[bytes], span: tuple[int, int]) -> Iterator[Asked]:
    """Ask for everything, for each key and for a span, forwards and backwards."""
    for reverse in (False, True):
        turned: Callable[[list[Any]], list[Any]] = (lambda rows: rows[::-1]) if reverse else list
        if kind == "key_value":
            rows = [(key, *found) for key, found in model.rows()]
            yield Asked(RangeQuery(reverse=reverse), turned(rows))
            lower, upper = sorted([*keys, b"a", b"b"])[:: max(1, len(keys) + 1)][:2]
            within = [row for row in rows if lower <= row[0] <= upper]
            yield Asked(RangeQuery(lower, upper, reverse=reverse), turned(within))
            begun = [row for row in rows if row[0].startswith(b"a")]
            yield Asked(RangeQuery(prefix=b"a", reverse=reverse), turned(begun))
        elif kind == "versioned":
            latest = [(key, value, since) for key, value, since in model.latest()]
            yield Asked(VersionedRangeQuery(reverse=reverse), turned(latest))
        else:
            ranged, keyed = (
                (WindowRangeQuery, WindowKeyQuery)
                if kind == "window"
                else (SessionRangeQuery, SessionKeyQuery)
            )
            yield Asked(ranged(reverse=reverse), turned(shown(kind, model.rows())))
            yield Asked(ranged(*span, reverse=reverse), turned(shown(kind, model.rows(*span))))
            for key in keys:
                yield Asked(keyed(key, reverse=reverse), turned(shown(kind, model.rows(key=key))))
        for key in keys if kind == "versioned" else ():
            versions = [(key, value, since) for value, since, _ in model.versions(key, *span)]
            yield Asked(MultiVersionedKeyQuery(key, *span, reverse=reverse), turned(versions))
    if kind == "key_value":
        for key in keys:
            found = model.get(key)
            yield Asked(KeyQuery(key), None if found is None else (key, *found))


def shown(kind: StoreKind, rows: list[Any]) -> list[Any]:
    found = []
    for key, time, begin, row in rows:
        windowed = (begin, time) if kind == "session" else (time, time + WINDOW)
        found.append((bm.WindowedKey(key, *windowed), *row))
    return found


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return [tuple(row[:3]) for row in value]
    return value if value is None or isinstance(value, int) else tuple(value[:3])


def paged(store: AnyStore, query: Any, limit: int) -> list[Any]:
    found, cursor = [], None
    while True:
        arguments = {name: getattr(query, name) for name in query.__dataclass_fields__}
        result = store.query(type(query)(**(arguments | {"limit": limit, "cursor": cursor})))
        found += result.value
        cursor = result.cursor
        if cursor is None:
            return found


def check(store: AnyStore, kind: StoreKind, found: list[Change], span: tuple[int, int]) -> None:
    """Compare all answers of a store with those of a model that saw these records."""
    model: Any = model_of(kind, found)
    keys = {change.key for change in found} | {b"absent"}
    for asked in questions(kind, model, keys, span):
        assert plain(store.query(asked.query).value) == asked.expected, asked.query
        if isinstance(asked.expected, list):
            assert plain(paged(store, asked.query, 3)) == asked.expected, asked.query
    if kind == "versioned":
        for key in keys:
            for as_of in (None, *span):
                row, known = store.query(VersionedKeyQuery(key, as_of)).value, model.get(key, as_of)
                assert (row is None) if not known else (row.value, row.timestamp) in known
    rows = model.latest() if kind == "versioned" else model.rows()
    assert store.query(CountQuery()).value == len(rows)


def left(world: World, kind: StoreKind) -> list[Change]:
    """Return the records that compaction has left."""
    topic = world.topics["log"]
    found = []
    for partition in range(PARTITIONS):
        for record in topic.read(partition):
            key, time, start = record.key, 0, 0
            if kind == "session":
                key, start = key[:-8], int.from_bytes(key[-8:], "big")
            if kind in ("window", "session"):
                key, time = key[:-8], int.from_bytes(key[-8:], "big")
            start = time if kind == "window" else start
            found.append(Change(partition, key, record.timestamp, record.value, time, start))
    return found


def steps(kind: StoreKind) -> st.SearchStrategy[list[Step]]:
    records = st.lists(changes(sessions=kind == "session"), min_size=1, max_size=12)
    return st.lists(st.one_of(records, records, st.sampled_from(["restart", "compact"])), max_size=8)


def windows_start_where_they_begin(kind: StoreKind, change: Change) -> Change:
    return change._replace(start=change.time) if kind == "window" else change


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None)
@given(data=st.data(), span=SPANS)
def test_replicas_answer_as_dictionaries_do(
    kind: StoreKind, data: st.DataObject, span: tuple[int, int]
) -> None:
    info = info_of(kind)
    seen: list[Change] = []
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory))
        # The history of versions is not compacted before it is over.
        lag = 86_400_000 if kind == "versioned" else 0
        topic = world.create("log", PARTITIONS, segment_bytes=16 * 1024, min_compaction_lag_ms=lag)
        old, running = world.replica(info, name="old"), world.replica(info)
        for step in data.draw(steps(kind)):
            if step == "restart":
                old.close()
                old = world.replica(info, name="old")
            elif step == "compact":
                # What compaction takes away, these have seen; the new one below has not.
                world.level(old["store"])
                topic.maintain(full=True)
            else:
                drawn = [windows_start_where_they_begin(kind, change) for change in step]
                topic.append(record_of(kind, change) for change in drawn)
                seen += drawn
                world.level(running["store"])

        with old, running, world.replica(info, name="new") as new:
            for replica in (old, running):
                check(_level(world, replica), kind, seen, span)
            check(_level(world, new), kind, left(world, kind), span)


def _level(world: World, replica: Replica) -> AnyStore:
    return world.level(replica["store"])

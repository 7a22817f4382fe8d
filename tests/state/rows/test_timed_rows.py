"""Rows of windows and sessions, set against a dictionary."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.layout import TIME, timestamp_of
from brookmere.state.rows.memory import Memory
from brookmere.state.rows.timed_rows import TimedRow, TimedRows
from tests.state.drawn import BACKENDS, KEYS, PARTITIONS, SPANS, backend, changes, chunks
from tests.state.models import Change, Found, TimedModel

KINDS = pytest.mark.parametrize("sessions", [False, True], ids=["windows", "sessions"])
RETENTIONS = st.sampled_from([None, 1, 5, 20])


def writer(sessions: bool) -> Callable[[Change], bytes]:
    """Return how changes become keys of a changelog, in Kafka's binary form."""
    if sessions:
        return lambda c: c.key + c.time.to_bytes(8, "big") + c.start.to_bytes(8, "big")
    return lambda c: c.key + c.time.to_bytes(8, "big")


def plain(row: TimedRow) -> tuple[bytes, int, int, Found]:
    return row.key, row.time, row.start, (row.entry[TIME:], timestamp_of(row.entry))


@KINDS
@settings(max_examples=60, deadline=None)
@given(data=st.data(), retention=RETENTIONS, size=st.integers(1, 12), span=SPANS, key=KEYS, kind=BACKENDS)
def test_rows_are_those_of_a_dictionary_that_forgets(
    kind: str, sessions: bool, data: st.DataObject, retention: int | None, size: int,
    span: tuple[int, int], key: bytes,
) -> None:  # fmt: skip
    found = data.draw(st.lists(changes(sessions=sessions), max_size=40))
    model = TimedModel(retention)

    with backend(kind, TimedRows.tables) as tables:
        rows = TimedRows(tables, PARTITIONS, retention_ms=retention, sessions=sessions)
        for chunk in chunks(found, writer(sessions), size):
            tables.write(rows.writes(chunk))
        for change in found:
            model.apply(change)

        for start, end in [(0, 2**63 - 1), span]:
            expected = model.rows(start, end)
            assert [plain(row) for row in rows.by_time(start, end)] == expected
            assert [plain(row) for row in rows.by_time(start, end, reverse=True)] == expected[::-1]
            own = model.rows(start, end, key=key)
            assert [plain(row) for row in rows.of_key(key, start, end)] == own
            assert [plain(row) for row in rows.of_key(key, start, end, reverse=True)] == own[::-1]
        assert rows.count() == len(model.rows())
        # What is not found is not kept either, once its partition has moved on.
        assert {place[:2] for place, _ in tables.scan("times")} <= {
            p.to_bytes(2, "big") for p in range(PARTITIONS)
        }
        assert len(list(tables.scan("rows"))) == len(list(tables.scan("times"))) == len(model.rows())


@KINDS
@settings(max_examples=60, deadline=None)
@given(data=st.data(), limit=st.integers(1, 5), reverse=st.booleans(), key=KEYS, span=SPANS)
def test_pages_make_up_the_whole(
    sessions: bool, data: st.DataObject, limit: int, reverse: bool, key: bytes, span: tuple[int, int]
) -> None:
    tables = Memory(TimedRows.tables)
    rows = TimedRows(tables, PARTITIONS, retention_ms=30, sessions=sessions)
    for chunk in chunks(data.draw(st.lists(changes(sessions=sessions), max_size=40)), writer(sessions), 10):
        tables.write(rows.writes(chunk))

    for ask in (lambda **more: rows.by_time(*span, **more), lambda **more: rows.of_key(key, *span, **more)):
        pages: list[TimedRow] = []
        after = None
        while page := list(islice(ask(reverse=reverse, after=after), limit)):
            pages += page
            after = page[-1].place
        assert pages == list(ask(reverse=reverse))


@pytest.mark.parametrize("reverse", [False, True])
def test_a_cursor_of_another_key_brings_no_rows_of_it(reverse: bool) -> None:
    tables = Memory(TimedRows.tables)
    rows = TimedRows(tables, 1, retention_ms=None, sessions=False)
    changed = [Change(0, key, 0, b"v", time) for key in (b"a", b"b", b"c") for time in (1, 2)]
    for chunk in chunks(changed, writer(False), 10):
        tables.write(rows.writes(chunk))

    for other in (b"a", b"b", b"c"):
        foreign = next(rows.of_key(other, reverse=reverse)).place
        assert {row.key for row in rows.of_key(b"b", reverse=reverse, after=foreign)} <= {b"b"}


def test_a_key_that_is_too_short_for_a_window_is_no_row() -> None:
    tables = Memory(TimedRows.tables)
    rows = TimedRows(tables, 1, retention_ms=None, sessions=False)

    tables.write(rows.writes(Chunk(0, [0, 1], [0, 0], [b"short", None], [b"v", b"v"], 2)))

    assert rows.count() == 0


def test_each_partition_has_its_own_time() -> None:
    tables = Memory(TimedRows.tables)
    rows = TimedRows(tables, 2, retention_ms=10, sessions=False)

    for partition, time in [(0, 5), (1, 5), (0, 100)]:
        change = Change(partition, b"k", 0, b"v", time)
        tables.write(rows.writes(Chunk(partition, [0], [0], [writer(False)(change)], [b"v"], 1)))

    assert [(row.time, row.place[-1]) for row in rows.by_time()] == [(5, 1), (100, 0)]


def test_a_deletion_moves_the_time_of_the_store_as_it_does_in_the_application() -> None:
    tables = Memory(TimedRows.tables)
    rows = TimedRows(tables, 1, retention_ms=10, sessions=False)
    kept, deleted = (writer(False)(Change(0, b"k", 0, b"v", time)) for time in (20, 80))

    tables.write(rows.writes(Chunk(0, [0, 1], [0, 0], [kept, deleted], [b"v", None], 2)))

    assert list(rows.by_time()) == []


def test_time_before_1970_is_never_found() -> None:
    tables = Memory(TimedRows.tables)
    rows = TimedRows(tables, 1, retention_ms=None, sessions=False)
    before = b"k" + (-5).to_bytes(8, "big", signed=True)

    tables.write(rows.writes(Chunk(0, [0], [0], [before], [b"v"], 1)))

    assert (list(rows.by_time()), list(rows.of_key(b"k")), rows.count()) == ([], [], 0)

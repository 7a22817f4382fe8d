"""Rows by key, set against a dictionary."""

from __future__ import annotations

from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.key_rows import KeyRow, KeyRows
from brookmere.state.rows.layout import TIME, behind, timestamp_of
from brookmere.state.rows.memory import Memory
from tests.state.drawn import BACKENDS, KEYS, PARTITIONS, backend, changes, chunks
from tests.state.models import Change, Found, KeyModel


def plain(row: KeyRow) -> tuple[bytes, Found]:
    return row.key, (row.entry[TIME:], timestamp_of(row.entry))


@settings(max_examples=60, deadline=None)
@given(
    found=st.lists(changes(), max_size=40), size=st.integers(1, 12), ends=st.tuples(KEYS, KEYS), kind=BACKENDS
)
def test_rows_are_those_of_a_dictionary(
    kind: str, found: list[Change], size: int, ends: tuple[bytes, bytes]
) -> None:
    model = KeyModel(PARTITIONS)

    with backend(kind, KeyRows.tables) as tables:
        rows = KeyRows(tables, PARTITIONS)
        for chunk in chunks(found, lambda change: change.key, size):
            tables.write(rows.writes(chunk))
        for change in found:
            model.apply(change)

        for lower, upper in [(b"", None), (ends[0], ends[1]), (ends[0], behind(ends[0]))]:
            expected = model.rows(lower, upper)
            assert [plain(row) for row in rows.scan(lower, upper)] == expected
            assert [plain(row) for row in rows.scan(lower, upper, reverse=True)] == expected[::-1]
        for change in found:
            kept = rows.get(change.key)
            assert (None if kept is None else (kept[TIME:], timestamp_of(kept))) == model.get(change.key)
        assert rows.count() == len(model.rows())
        # A restart knows as much.
        assert [plain(row) for row in KeyRows(tables, PARTITIONS).scan()] == model.rows()


@settings(max_examples=60, deadline=None)
@given(
    found=st.lists(changes(), max_size=40),
    limit=st.integers(1, 5),
    reverse=st.booleans(),
    ends=st.tuples(KEYS, KEYS),
)
def test_pages_make_up_the_whole(
    found: list[Change], limit: int, reverse: bool, ends: tuple[bytes, bytes]
) -> None:
    tables = Memory(KeyRows.tables)
    rows = KeyRows(tables, PARTITIONS)
    for chunk in chunks(found, lambda change: change.key, 10):
        tables.write(rows.writes(chunk))
    lower, upper = min(ends), behind(max(ends))

    pages: list[KeyRow] = []
    after = None
    while page := list(islice(rows.scan(lower, upper, reverse=reverse, after=after), limit)):
        pages += page
        after = page[-1].place

    assert pages == list(rows.scan(lower, upper, reverse=reverse))


def test_a_global_table_has_one_row_per_key_whatever_its_partition() -> None:
    tables = Memory(KeyRows.tables)
    rows = KeyRows(tables, 3, is_global=True)

    for partition in range(3):
        tables.write(rows.writes(Chunk(partition, [0], [partition], [b"k"], [b"v"], 1)))

    assert [(row.key, timestamp_of(row.entry)) for row in rows.scan()] == [(b"k", 2)]


def test_a_record_without_key_is_no_row() -> None:
    tables = Memory(KeyRows.tables)
    rows = KeyRows(tables, 1)

    tables.write(rows.writes(Chunk(0, [0, 1], [5, 6], [None, b"k"], [b"v", b"w"], 2)))

    assert [row.key for row in rows.scan()] == [b"k"]

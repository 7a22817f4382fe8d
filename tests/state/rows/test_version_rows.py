"""Versions of rows, set against dictionaries."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from brookmere.state.rows.backend import Backend
from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.memory import Memory
from brookmere.state.rows.version_rows import VersionRow, VersionRows
from tests.state.drawn import BACKENDS, KEYS, PARTITIONS, SPANS, backend, changes, chunks
from tests.state.models import Change, VersionModel


@dataclass(frozen=True)
class Filled:
    """Rows and model that were told the same."""

    rows: VersionRows
    model: VersionModel


def filled(tables: Backend, found: list[Change], history: int, size: int = 10) -> Filled:
    rows, model = VersionRows(tables, history_ms=history), VersionModel(history)
    for chunk in chunks(found, lambda change: change.key, size):
        tables.write(rows.writes(chunk))
    for change in found:
        model.apply(change)
    return Filled(rows, model)


@settings(max_examples=60, deadline=None)
@given(
    found=st.lists(changes(), max_size=40),
    history=st.sampled_from([0, 1, 10, 100]),
    size=st.integers(1, 12),
    span=SPANS,
    key=KEYS,
    kind=BACKENDS,
)
def test_versions_are_those_of_a_dictionary_that_forgets(
    kind: str, found: list[Change], history: int, size: int, span: tuple[int, int], key: bytes
) -> None:
    with backend(kind, VersionRows.tables) as tables:
        both = filled(tables, found, history, size)
        rows, model = both.rows, both.model

        for start, end in [(-(2**62), 2**62), span]:
            expected = model.versions(key, start, end)
            shown = [(row.value, row.since, row.until) for row in rows.versions(key, start, end)]
            assert shown == expected
            back = [(r.value, r.since, r.until) for r in rows.versions(key, start, end, reverse=True)]
            assert back == expected[::-1]
        for as_of in (None, *range(-1, 42)):
            got, known = rows.get(key, as_of), model.get(key, as_of)
            assert (got is None) == (known == [])
            assert got is None or (got.value, got.since) in known
        latest = [(row.key, row.value, row.since) for row in rows.latest()]
        assert latest == model.latest()
        assert [(r.key, r.value, r.since) for r in rows.latest(reverse=True)] == latest[::-1]
        assert rows.count() == len(latest)


@settings(max_examples=60, deadline=None)
@given(
    found=st.lists(changes(), max_size=40),
    limit=st.integers(1, 4),
    reverse=st.booleans(),
    key=KEYS,
    span=SPANS,
)
def test_pages_make_up_the_whole(
    found: list[Change], limit: int, reverse: bool, key: bytes, span: tuple[int, int]
) -> None:
    rows = filled(Memory(VersionRows.tables), found, 15).rows

    for ask in (lambda **more: rows.latest(**more), lambda **more: rows.versions(key, *span, **more)):
        pages: list[VersionRow] = []
        after = None
        while page := list(islice(ask(reverse=reverse, after=after), limit)):
            pages += page
            after = page[-1].place
        assert pages == list(ask(reverse=reverse))


def test_get_tells_until_when_the_version_was_valid() -> None:
    found = [Change(0, b"k", time, value) for time, value in [(10, b"a"), (20, b"b"), (30, None)]]
    rows = filled(Memory(VersionRows.tables), found, 1000).rows

    spans = [
        (row.since, row.until) if (row := rows.get(b"k", at)) else None for at in (5, 10, 19, 20, 29, 30)
    ]

    assert spans == [None, (10, 20), (10, 20), (20, 30), (20, 30), None]


def test_a_version_before_1970_is_found() -> None:
    found = [Change(0, b"k", time, str(time).encode()) for time in (-20, -10, 5)]
    rows = filled(Memory(VersionRows.tables), found, 1000).rows

    assert [row.value for at in (-15, -10, 4, 5) if (row := rows.get(b"k", at))] == [
        b"-20",
        b"-10",
        b"-10",
        b"5",
    ]


def test_a_key_that_one_task_deleted_and_another_has_is_there() -> None:
    found = [Change(0, b"k", 10, b"a"), Change(PARTITIONS - 1, b"k", 20, None)]
    rows = filled(Memory(VersionRows.tables), found, 1000).rows

    row = rows.get(b"k")

    assert row is not None
    assert (row.value, row.since) == (b"a", 10)


def test_versions_that_nobody_can_ask_for_are_deleted() -> None:
    tables = Memory(VersionRows.tables)
    rows = VersionRows(tables, history_ms=10)

    for time in range(100):
        tables.write(rows.writes(Chunk(0, [time], [time], [b"k"], [b"v"], time + 1)))

    assert len(list(tables.scan("rows"))) <= 12

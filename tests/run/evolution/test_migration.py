"""Windows, buffers and tables that move with a changed program keep their state."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from tests.run.evolution.versions import builder, put, windows
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")


def tables(extra: bool = False) -> bm.StreamsBuilder:
    """Look into a table with history, into one by foreign key and into one whose rows die; drop doubles."""
    app = builder()
    records = app.stream("in")
    if extra:
        values = records.group_by(lambda key, value: value).count(store="values").to_stream()
        lengths = values.group_by(lambda key, value: F.length(key).cast("string"))
        lengths.count(store="lengths").to_stream().to("values", value=bm.Long())
        records = records.map_values(lambda value: value).select_key(lambda key, value: key)
    short = timedelta(milliseconds=5)
    records.dedupe(within=short, store="once").to("once")
    old = app.table("others", store="history", history=timedelta(milliseconds=50))
    both = lambda x, y: F.concat_ws("-", x, y)  # noqa: E731
    records.join(old, both, grace=short, name="waiting").to("waited")
    living = app.table("living", store="living", ttl=timedelta(milliseconds=10))
    living.to_stream().to("lived")
    references = app.table("references", store="references")
    references.left_join(living, both, foreign_key=lambda value: value, store="found").to_stream().to("found")
    return app


PARTS: list[dict[str, list[tuple[str, str, int]]]] = [
    {
        "in": [("a", "x", 1), ("a", "x", 2), ("b", "x", 2)],
        "others": [("a", "o", 3), ("b", "o", 1)],
        "living": [("a", "l", 1), ("b", "l", 9)],
        "references": [("1", "a", 2), ("2", "b", 3)],
    },
    {
        "in": [("a", "x", 4), ("a", "x", 25), ("b", "x", 26)],
        "others": [("b", "p", 3), ("a", "p", 24)],
        "living": [("a", "m", 12)],
        "references": [("1", "b", 5), ("3", "a", 6)],
    },
    {
        "in": [("a", "x", 3), ("b", "x", 28), ("a", "x", 42)],
        "others": [("a", "q", 22), ("b", "q", 44)],
        "living": [("b", "n", 40), ("a", "n", 40)],
        "references": [("2", "a", 41)],
    },
]


@pytest.mark.parametrize(
    ("program", "kinds", "results"),
    [
        (windows, ("memory", "rocksdb", "auto"), ("closed", "sessions", "pairs")),
        (tables, ("auto", "auto", "auto"), ("once", "waited", "lived", "found")),
    ],
)
def test_open_windows_buffers_and_tables_keep_their_state(
    tmp_path: Path,
    program: Callable[[bool], bm.StreamsBuilder],
    kinds: tuple[str, ...],
    results: tuple[str, ...],
) -> None:
    calm, changed = Home(tmp_path / "calm"), Home(tmp_path / "changed")
    for home, versions in ((calm, (False, False, False)), (changed, (False, True, False))):
        for part, extra, kind in zip(PARTS, versions, kinds, strict=True):
            for topic, records in part.items():
                put(home, topic, *records, partitions=2)
            chosen = "auto" if home is calm else kind
            home.run(program(extra), store__type=chosen, statestore__cache__max__bytes=0)

    for topic in results:
        assert _log(changed, topic) == _log(calm, topic)
        assert any(_log(calm, topic))


def _log(home: Home, topic: str) -> list[list[Any]]:
    found = home.topics[topic]
    return [[(r.key, r.value, r.timestamp) for r in found.read(p)] for p in range(found.partitions)]


def test_copy_of_a_table_begins_with_the_rows_of_the_table(home: Home) -> None:
    def tables(joined: bool) -> bm.StreamsBuilder:
        app = builder()
        left, right = app.table("left", store="lefts"), app.table("right", store="rights")
        left.to_stream().to("out", value=bm.Text())
        right.to_stream().to("out", value=bm.Text())
        if joined:
            pairs = left.join(right, lambda x, y: F.concat_ws("-", x, y), foreign_key=lambda value: value)
            pairs.to_stream().to("pairs")
        return app

    put(home, "left", ("1", "a", 0), partitions=2)
    put(home, "right", ("a", "Ann", 1), ("b", "Bob", 1), partitions=2)
    home.run(tables(joined=False))
    put(home, "left", ("1", "b", 2), ("2", "a", 3))
    home.run(tables(joined=True))

    assert sorted(home.read("pairs")) == ["a-Ann", "b-Bob"]


def test_global_table_is_there_in_new_tasks(home: Home) -> None:
    def program(*inputs: str) -> bm.StreamsBuilder:
        app = builder()
        names = app.global_table("names", store="names")
        for topic in inputs:
            joined = app.stream(topic).join(
                names, lambda value, name: F.concat_ws("-", value, name), key=lambda key, value: value
            )
            joined.to("out")
        return app

    put(home, "names", ("a", "Ann", 0), ("b", "Bob", 0))
    put(home, "one", ("k", "a", 1))
    home.run(program("one"))
    put(home, "four", *[(key, "b", 2) for key in "klmnopqr"], partitions=4)
    home.run(program("one", "four"))

    assert home.read("out") == ["a-Ann", *["b-Bob"] * 8]

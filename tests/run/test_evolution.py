"""A program that changes between two runs keeps the state of the stores that stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")

Program = Callable[[], bm.StreamsBuilder]


def builder() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("changing", key=bm.Text(), value=bm.Text())


def put(home: Home, topic: str, *records: tuple[str, str, int], partitions: int = 1) -> None:
    found = home.topics.create(topic, partitions, exist_ok=True)
    found.append([bm.Record(key.encode(), value.encode(), time) for key, value, time in records])


def latest(home: Home, topic: str, value: bm.Serde | None = None) -> dict[str, Any]:
    """Return the last value of each key, as it was written."""
    serde = value or bm.Long()
    found = home.topics[topic]
    records = [record for p in range(found.partitions) for record in found.read(p)]
    return {record.key.decode(): serde.deserialize(record.value) for record in records}


def identity(home: Home) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((home.directory / "state/changing/application.json").read_text())
    return content


def refused(home: Home, program: bm.StreamsBuilder, **settings: Any) -> str:
    """Return why a program is refused, after a look that nothing was changed."""
    directory = home.directory / "state" / "changing"
    before = {path.name for path in directory.iterdir()}, identity(home)
    application = home.application(program, **settings)
    found = application.check()
    with pytest.raises(bm.StateError) as caught:
        application.start()
    assert ({path.name for path in directory.iterdir()}, identity(home)) == before
    assert found is not None
    assert not found.is_possible
    return str(caught.value)


def count() -> bm.StreamsBuilder:
    app = builder()
    app.stream("in").group_by_key().count(store="counts").to_stream().to("out")
    return app


def with_more() -> bm.StreamsBuilder:
    """Add a store before and one behind, with operators that shift all numbers."""
    app = builder()
    records = app.stream("in").filter(lambda value: value != "skip").map_values(lambda value: F.upper(value))
    grouped = records.group_by_key()
    grouped.reduce(lambda total, value: F.concat(total, value), store="texts").to_stream().to("texts")
    grouped.count(store="counts").to_stream().to("out")
    return app


def repartitioned() -> bm.StreamsBuilder:
    """Add a repartition in front, and one with a store behind it."""
    app = builder()
    records = app.stream("in").select_key(lambda key, value: key)
    counts = records.group_by_key().count(store="counts").to_stream()
    counts.to("out")
    lengths = counts.group_by(lambda key, value: F.length(key).cast("string"))
    lengths.reduce(lambda total, value: total + value, store="lengths").to_stream().to("lengths")
    return app


def test_stores_come_and_go_and_those_that_stay_keep_their_state(home: Home) -> None:
    def write(time: int) -> None:
        put(home, "in", *[(key, "x", time) for key in "abcdefgh"], partitions=4)

    every = dict.fromkeys("abcdefgh")
    for time, program in enumerate([count, with_more, count, repartitioned, with_more]):
        write(time)
        home.run(program())
        assert latest(home, "out") == dict.fromkeys(every, time + 1)

    # A store that comes back begins empty: what it held when it went is gone.
    assert latest(home, "texts", bm.Text()) == dict.fromkeys(every, "X")
    assert latest(home, "lengths") == {"1": sum(range(3, 5)) * 8 - 3 * 8}


def test_stores_are_converted_and_nothing_is_lost(home: Home) -> None:
    for time, kind in enumerate(["auto", "rocksdb", "memory", "rocksdb", "auto"]):
        put(home, "in", ("a", "x", time), ("b", "x", time), partitions=2)
        home.run(count(), store__type=kind)

    assert latest(home, "out") == {"a": 5, "b": 5}
    assert identity(home)["stores"]["counts"]["kind"] == "auto"


def test_table_moves_to_the_stage_of_a_new_join(home: Home) -> None:
    def table_only() -> bm.StreamsBuilder:
        app = builder()
        app.table("names", store="names").to_stream().to("out", value=bm.Text())
        return app

    def joined() -> bm.StreamsBuilder:
        app = builder()
        names = app.table("names", store="names")
        names.to_stream().to("out", value=bm.Text())
        orders = app.stream("orders").group_by(lambda key, value: value).count(store="orders").to_stream()
        again = orders.select_key(lambda key, value: key)
        again.join(names, lambda order, name: F.concat(order.cast("string"), F.lit(" "), name)).to("joined")
        return app

    put(home, "names", ("a", "Ann", 0), ("b", "Bob", 1), partitions=2)
    home.run(table_only())
    put(home, "orders", ("1", "a", 2), ("2", "b", 3), partitions=2)

    application = home.application(joined())
    found = application.check()
    home.run(joined())

    assert found is not None
    assert {f.store: str(f) for f in found.changes} == {
        "names": "moved; from stage 1 to stage 2",
        "orders": "new and empty",
    }
    assert sorted(home.read("joined")) == ["1 Ann", "1 Bob"]


def windows(
    extra: bool = False, *, size: int = 10, gap: int = 3, retention: int | None = None
) -> bm.StreamsBuilder:
    """Count in windows and in sessions, hold results back, join two streams; `extra` moves all that on."""
    app = builder()
    if extra:
        values = app.stream("in").group_by(lambda key, value: value).count(store="values").to_stream()
        values.to("values", value=bm.Long())
        lengths = values.group_by(lambda key, value: F.length(key).cast("string"))
        lengths.count(store="lengths").to_stream().to("values", value=bm.Long())
    records = app.stream("in")
    if extra:
        records = records.map_values(lambda value: value).select_key(lambda key, value: key)
    grouped = records.group_by_key()
    kept = {} if retention is None else {"retention": timedelta(milliseconds=retention)}
    tumbling = bm.TimeWindows(timedelta(milliseconds=size))
    counts = grouped.windowed_by(tumbling).count(store="windows", **kept)
    _write(counts.suppress(bm.until_window_closes(), name="held").to_stream(), "closed")
    sessions = bm.SessionWindows(timedelta(milliseconds=gap), grace=timedelta(milliseconds=5))
    _write(grouped.windowed_by(sessions).count(store="sessions").to_stream(), "sessions")
    near = bm.JoinWindows(timedelta(milliseconds=4), grace=timedelta(milliseconds=5))
    others = app.stream("others")
    pairs = records.outer_join(others, lambda x, y: F.concat_ws("-", x, y), windows=near, store="pair")
    pairs.to("pairs")
    return app


def _write(table: Any, topic: str) -> None:
    table.map(lambda key, value: (F.concat_ws("-", key["key"], key["start"], key["end"]), value)).to(
        topic, value=bm.Long()
    )


PARTS = [
    {"in": [("a", "x", 1), ("a", "x", 2), ("b", "x", 2)], "others": [("a", "o", 3), ("b", "o", 1)]},
    {"in": [("a", "x", 4), ("a", "x", 25), ("b", "x", 26)], "others": [("b", "p", 3), ("a", "p", 24)]},
    {"in": [("a", "x", 3), ("b", "x", 28), ("a", "x", 42)], "others": [("a", "q", 22), ("b", "q", 44)]},
]


@pytest.mark.parametrize("kinds", [("auto", "auto", "auto"), ("memory", "rocksdb", "auto")])
def test_open_windows_sessions_and_joins_go_on(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    calm, changed = Home(tmp_path / "calm"), Home(tmp_path / "changed")
    for home, versions in ((calm, (False, False, False)), (changed, (False, True, False))):
        for part, extra, kind in zip(PARTS, versions, kinds, strict=True):
            for topic, records in part.items():
                put(home, topic, *records, partitions=2)
            chosen = "auto" if home is calm else kind
            home.run(windows(extra), store__type=chosen, statestore__cache__max__bytes=0)

    for topic in ("closed", "sessions", "pairs"):
        assert _log(changed, topic) == _log(calm, topic)
        assert any(_log(calm, topic))


def _log(home: Home, topic: str) -> list[list[Any]]:
    found = home.topics[topic]
    return [[(r.key, r.value, r.timestamp) for r in found.read(p)] for p in range(found.partitions)]

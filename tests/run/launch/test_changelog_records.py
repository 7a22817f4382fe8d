"""The changelog of a named store contains all its changes, and in the end the rows of the store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serde.partition import partition_for
from brookmere.testing import TopologyTestDriver
from tests.run.homes import Home, count

pytestmark = pytest.mark.usefixtures("spark")

# Far ahead, or retention would take the changelogs of windows away.
NOW = 4_000_000_000_000
KEPT = timedelta(days=1)

Given = dict[str, list[tuple[str, str | None, int]]]
Rows = dict[Any, tuple[Any, int]]


def ms(number: int) -> timedelta:
    return timedelta(milliseconds=number)


def everything() -> tuple[bm.StreamsBuilder, dict[str, tuple[bm.Serde, bm.Serde]]]:
    """Return a program with all kinds of stores, and what their changelogs are written with."""
    app = bm.StreamsBuilder("kept", key=bm.Text(), value=bm.Text())
    stream, others = app.stream("in"), app.stream("other")
    grouped = stream.group_by_key()
    grouped.count(store="counted")
    numbers = stream.map_values(lambda value: F.struct(F.length(value).alias("n")))
    numbers.group_by_key().agg(mean=bm.avg("n"), least=bm.min("n"), store="averaged")
    left, right = stream.to_table(), others.to_table()
    left.group_by(lambda key, value: (F.length(value), value)).count(store="regrouped")
    left.filter(lambda value: value != "b", store="filtered")
    left.map_values(lambda value: F.length(value).cast("float"), store="measured")
    left.left_join(right, lambda a, b: F.struct(a.alias("a"), b.alias("b")), store="joined")
    left.join(right, F.concat, foreign_key=lambda value: value, store="foreign")
    stream.to_table(ttl=ms(15), store="expiring")
    both = grouped.cogroup(lambda value, agg: F.concat(agg, value))
    both.cogroup(others.group_by_key(), lambda value, agg: F.concat(agg, F.upper(value)))
    both.aggregate("", store="cogrouped")

    tumbling = bm.TimeWindows(ms(10), grace=ms(10))
    sessions = bm.SessionWindows(ms(4), grace=ms(10))
    sliding = bm.SlidingWindows(ms(10), grace=ms(10))
    grouped.windowed_by(tumbling).count(store="windows", retention=KEPT).suppress(bm.until_window_closes())
    grouped.windowed_by(tumbling, emit="close").count(store="closing", retention=KEPT)
    grouped.windowed_by(sliding).reduce(F.concat, store="sliding", retention=KEPT)
    grouped.windowed_by(sliding, emit="close").reduce(F.concat, store="closing-sliding", retention=KEPT)
    grouped.windowed_by(sessions).agg(mean=bm.count(), store="sessions", retention=KEPT)
    grouped.windowed_by(sessions, emit="close").count(store="closing-sessions", retention=KEPT)
    counted, text = bm.Json("mean bigint"), bm.Text()
    window, session = bm.Windowed(text, size=ms(10)), bm.Windowed(text, session=True)
    return app, {
        "counted": (text, bm.Long()),
        "averaged": (text, bm.Json("mean double, least int")),
        "regrouped": (bm.Int(), bm.Long()),
        "filtered": (text, text),
        "measured": (text, bm.Json("value float")),
        "joined": (text, bm.Json("a string, b string")),
        "foreign": (text, text),
        "expiring": (text, text),
        "cogrouped": (text, text),
        "windows": (window, bm.Long()),
        "closing": (window, bm.Long()),
        "sliding": (window, text),
        "closing-sliding": (window, text),
        "sessions": (session, counted),
        "closing-sessions": (session, bm.Long()),
    }


GIVEN: Given = {
    "in": [
        ("x", "a", NOW),
        ("y", "b", NOW + 1),
        ("x", "b", NOW + 5),
        ("z", "a", NOW + 10),
        ("y", None, NOW + 20),
        ("x", "aa", NOW + 30),
        ("x", "b", NOW + 31),
        ("w", "c", NOW + 33),
        ("x", "d", NOW + 26),
    ],
    "other": [
        ("a", "1", NOW),
        ("b", "2", NOW + 1),
        ("x", "3", NOW + 2),
        ("b", None, NOW + 25),
        ("w", "4", NOW + 40),
    ],
}


def write(home: Home, given: Given) -> None:
    for topic, records in given.items():
        with home.topics.producer(topic, key=bm.Text(), value=bm.Text()) as producer:
            for key, value, ts in records:
                producer.send(key, value, timestamp=ts)


def shown(program: bm.StreamsBuilder, batches: list[Given], stores: list[str], emit: Any) -> dict[str, Rows]:
    """Return the rows of the stores after the same records."""
    with TopologyTestDriver(program, partitions=2, emit=emit) as driver:
        for batch in batches:
            order = sorted(_in_order(batch), key=lambda one: one[:2])
            driver.pipe_records([(topic, bm.Record(*record)) for _, topic, record in order])
        return {
            name: {_key(key): (value, ts) for key, value, ts in driver.store(name).rows()} for name in stores
        }


def _in_order(given: Given) -> Iterator[tuple[int, str, tuple[str, str | None, int]]]:
    for topic, records in given.items():
        clocks = accumulate((record[2] for record in records), max)
        yield from ((clock, topic, record) for clock, record in zip(clocks, records, strict=True))


def logged(home: Home, topic: str, key: bm.Serde, value: bm.Serde) -> Rows:
    """Return what a reader of a changelog knows in the end."""
    rows: Rows = {}
    log = home.topics[topic]
    for partition in range(log.partitions):
        for record in log.read(partition):
            found = _key(key.deserialize(record.key))
            rows.pop(found, None)
            if record.value is not None:
                rows[found] = (value.deserialize(record.value), record.timestamp)
    return rows


def _key(key: Any) -> Any:
    if isinstance(key, bm.WindowedKey):
        return key.key, key.start, key.end
    return tuple(key.values()) if isinstance(key, dict) else key


@pytest.mark.parametrize("emit", ["every", "last"])
def test_changelogs_have_the_rows_of_the_stores(home: Home, emit: str) -> None:
    program, serdes = everything()
    for topic in GIVEN:
        home.topics.create(topic, 2)
    batches = [{topic: r[part] for topic, r in GIVEN.items()} for part in (slice(0, 4), slice(4, None))]

    for batch in batches:
        write(home, batch)
        home.run(program, statestore__cache__max__bytes=0 if emit == "every" else 1)

    found = {name: logged(home, f"kept-{name}-changelog", *serdes[name]) for name in serdes}
    # There is no serde for a float.
    found["measured"] = {key: (value["value"], ts) for key, (value, ts) in found["measured"].items()}
    expected = shown(program, batches, list(serdes), emit)
    for name in serdes:
        assert (name, found[name]) == (name, expected[name])
        assert found[name]


def two_stores(**options: Any) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("kept", key=bm.Text(), value=bm.Text())
    grouped = app.stream("in").group_by_key()
    grouped.count(**options)
    windows = bm.TimeWindows(ms(10), grace=ms(10))
    grouped.windowed_by(windows, emit="close").count(store="windows", store_type="rocksdb", retention=KEPT)
    return app


COUNTS = ("kept-counts-changelog", bm.Text(), bm.Long())
WINDOWS = ("kept-windows-changelog", bm.Windowed(bm.Text(), size=ms(10)), bm.Long())


def ends(home: Home) -> list[int]:
    return [sum(home.topics[topic].end_offsets()) for topic, *_ in (COUNTS, WINDOWS)]


def test_changelog_that_begins_late_has_the_rows_from_before(home: Home) -> None:
    home.topics.create("in", 2)
    write(home, {"in": [("x", "a", 0), ("y", "a", 1), ("z", "a", 2), ("x", "a", 3)]})
    home.run(two_stores(), changelog__disabled="windows")

    # The store has a name now, and the other one is allowed to: no record comes.
    home.run(two_stores(store="counts"))
    late = logged(home, *COUNTS), logged(home, *WINDOWS), ends(home)
    write(home, {"in": [("x", "a", 5)]})
    home.run(two_stores(store="counts"))

    window = (0, 10)
    assert late == (
        {"x": (2, 3), "y": (1, 1), "z": (1, 2)},
        {("x", *window): (2, 3), ("y", *window): (1, 1), ("z", *window): (1, 2)},
        [3, 3],
    )
    assert logged(home, *COUNTS)["x"] == (3, 5)
    assert logged(home, *WINDOWS)[("x", *window)] == (3, 5)
    assert ends(home) == [4, 4]


def test_changes_are_in_the_partition_of_their_task(home: Home) -> None:
    source = home.topics.create("in", 3)
    # Written by someone with a partitioner of his own.
    for partition, key in enumerate("abc"):
        values = pa.table({"timestamp": [0, 1], "key": [key.encode()] * 2, "value": [b"v", b"w"]})
        source.append_batch(partition, values)
    app = bm.StreamsBuilder("kept", key=bm.Text(), value=bm.Text())
    stream = app.stream("in")
    stream.group_by_key().count(store="counts")
    few = stream.repartition(partitions=2).group_by_key()
    few.windowed_by(bm.TimeWindows(ms(10), grace=ms(0))).count(store="windows")

    home.run(app)

    counts, windows = home.topics["kept-counts-changelog"], home.topics["kept-windows-changelog"]
    assert [[r.key for r in counts.read(p)] for p in range(3)] == [[b"a"], [b"b"], [b"c"]]
    assert windows.partitions == 2
    found = {record.key[:1]: p for p in range(2) for record in windows.read(p) if record.key}
    assert found == {key: partition_for(key, 2) for key in (b"a", b"b", b"c")}


def test_headers_of_records_are_not_in_changelogs(home: Home) -> None:
    home.topics.create("in").append([bm.Record(b"k", b"v", 7, (("h", b"1"),))])

    home.run(count())

    (record,) = home.topics["count-counts-changelog"].read(0)
    assert (record.key, record.value, record.timestamp, record.headers) == (
        b"k",
        bm.Long().serialize(1),
        7,
        (),
    )
    assert next(home.topics["out"].read(0)).headers == (("h", b"1"),)

"""Queries from embedded topics to embedded topics."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from tests.run.places import Place, copying, counting, values


def test_records_come_through_as_python_wrote_them(place: Place) -> None:
    place.topics.create("in", partitions=3)
    place.topics.create("out", partitions=3)
    written = [
        bm.Record(b"a", b"1", 10, partition=0),
        bm.Record(b"a", None, 5, (("h", b"x"), ("h", None), ("é", b"")), partition=0),
        bm.Record(b"", b"", 0, partition=0),
        bm.Record("ключ".encode(), b"\x00\xff" * 5000, 2**42, (("z", b"y" * 3000),), partition=1),
    ]
    place.topics["in"].append(written)

    place.run(copying("in"))

    everything = [r for p in range(3) for r in place.read("out", p)]
    assert sorted(everything, key=repr) == sorted(
        [(r.key, r.value, r.timestamp, r.headers) for r in written], key=repr
    )


def test_keys_go_to_the_partition_that_kafkas_clients_choose(place: Place) -> None:
    place.topics.create("in", partitions=1)
    place.topics.create("out", partitions=5)
    direct = place.topics.create("direct", partitions=5)
    records = [bm.Record(f"key-{n}".encode(), b"v", n) for n in range(50)]
    place.topics["in"].append(records)

    place.run(copying("in"))
    direct.append(records)

    for partition in range(5):
        assert place.read("out", partition) == place.read("direct", partition)


@pytest.mark.parametrize("limit", [1, 3, 7, 0])
def test_topics_are_merged_in_time_order_whatever_the_size_of_batches(place: Place, limit: int) -> None:
    place.topics.create("a", partitions=2)
    place.topics.create("b", partitions=1)
    place.topics.create("out", partitions=1)
    place.feed("a", ("k", "a10", 10), ("k", "a5", 5), ("k", "a30", 30), partition=0)
    place.feed("a", ("k", "a7", 7), ("k", "a10'", 10), ("k", "a10''", 10), partition=1)
    place.feed("b", ("k", "b6", 6), ("k", "b20", 20), ("k", "b19", 19), ("k", "b31", 31), partition=0)

    place.run(copying("a", "b"), max_batch_records=limit)

    expected = b"b6 a7 a10 a5 a10' a10'' b20 b19 a30 b31".split()
    assert values(place.read("out")) == expected


@given(data=st.data())
@settings(max_examples=4, deadline=None)
def test_any_history_gives_the_same_log_for_any_size_of_batches(
    spark: SparkSession, data: st.DataObject
) -> None:
    times = st.lists(st.integers(0, 12), max_size=12)
    history = data.draw(st.lists(times, min_size=1, max_size=3))
    limits = [0, data.draw(st.integers(1, 6))]

    logs = []
    for limit in limits:
        with tempfile.TemporaryDirectory() as directory:
            place = Place(Path(directory), spark)
            place.topics.create("in", partitions=len(history))
            place.topics.create("out", partitions=1)
            for partition, line in enumerate(history):
                rows = [(ts % 3, f"{partition}/{n}", ts) for n, ts in enumerate(line)]
                if rows:
                    place.feed("in", *rows, partition=partition)
            place.run(copying("in"), max_batch_records=limit)
            logs.append(place.read("out"))

    assert logs[0] == logs[1]


@pytest.mark.parametrize("spark_partitions", [1, 2])
def test_the_output_does_not_depend_on_the_number_of_spark_partitions(
    place: Place, spark_partitions: int
) -> None:
    place.topics.create("in", partitions=4)
    place.topics.create("out", partitions=1)
    for n in range(40):
        place.feed("in", (None, f"word-{n % 7}", n), partition=n % 4)

    place.run(counting(), spark_partitions=spark_partitions)

    seen: dict[str, int] = {}
    expected = []
    for n in range(40):
        word = f"word-{n % 7}"
        seen[word] = seen.get(word, 0) + 1
        expected.append((word.encode(), seen[word].to_bytes(8, "big"), n, ()))
    assert place.read("out") == expected


def test_a_repeated_batch_is_not_written_again(place: Place) -> None:
    place.topics.create("in", partitions=2)
    place.topics.create("out", partitions=2)
    for n in range(20):
        place.feed("in", (n, f"w{n % 3}", n))
    place.run(counting(), max_batch_records=8)
    before = [place.read("out", p) for p in range(2)]

    # The process ended between the commit of the sink and that of the offsets.
    last = max((place.checkpoint / "commits").glob("[0-9]*"), key=lambda p: int(p.name))
    last.unlink()
    place.run(counting(), max_batch_records=8)

    assert [place.read("out", p) for p in range(2)] == before


def test_a_second_run_resumes_where_the_first_ended(place: Place) -> None:
    place.topics.create("in")
    place.topics.create("out")
    place.feed("in", ("k", "w", 1))
    place.run(counting())
    place.feed("in", ("k", "w", 2))

    place.run(counting())

    assert values(place.read("out")) == [(1).to_bytes(8, "big"), (2).to_bytes(8, "big")]


def test_the_last_update_of_a_batch_comes_out_in_the_order_of_the_updates(place: Place) -> None:
    place.topics.create("in")
    place.topics.create("out")
    place.feed("in", *[("k", word, n) for n, word in enumerate("babcabd")])

    place.run(counting(), emit="last")

    kept = [(key, int.from_bytes(value or b"", "big"), ts) for key, value, ts, _ in place.read("out")]
    assert kept == [(b"c", 1, 3), (b"a", 2, 4), (b"b", 3, 5), (b"d", 1, 6)]


def test_topics_that_records_are_routed_to_are_created(place: Place) -> None:
    place.topics.create("in")
    place.feed("in", ("a", "x", 1), ("b", "y", 2))
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    app.stream("in").to(lambda key, value: F.concat(F.lit("to-"), key))

    place.run(app, new_partitions=2)

    assert {"to-a", "to-b"} <= set(place.topics.names())
    assert place.topics["to-a"].partitions == 2
    assert [r.value for p in range(2) for r in place.topics["to-b"].read(p)] == [b"y"]


def test_a_topic_can_stamp_the_time_of_the_append(place: Place) -> None:
    place.topics.create("in")
    place.topics.create("out", config={"message.timestamp.type": "LogAppendTime"})
    place.feed("in", ("a", "x", 1))

    place.run(copying("in"))

    assert place.read("out")[0][2] > 1_600_000_000_000


def test_a_tap_sees_every_record_in_order_before_it_is_written(place: Place) -> None:
    place.topics.create("in", partitions=2)
    place.topics.create("out")
    seen: list[tuple[Any, Any, int]] = []
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    written: Callable[[], int] = lambda: len(place.read("out"))  # noqa: E731
    app.stream("in").peek(lambda key, value: seen.append((key, value, written()))).to("out")
    place.feed("in", ("a", "1", 1), ("b", "2", 2), partition=0)
    place.feed("in", ("c", "0", 0), partition=1)

    place.run(app)

    assert seen == [("c", "0", 0), ("a", "1", 0), ("b", "2", 0)]
    assert values(place.read("out")) == [b"0", b"1", b"2"]


def test_a_first_start_can_begin_at_the_end(place: Place) -> None:
    place.topics.create("in")
    place.topics.create("out")
    place.feed("in", ("k", "before", 1))

    with place.running(copying("in"), reset="latest") as query:
        query.process_all_available()
        place.feed("in", ("k", "after", 2))
        query.process_all_available()

    assert values(place.read("out")) == [b"after"]


def test_plain_pyspark_reads_and_writes_the_same_topics(
    place: Place, spark: SparkSession, tmp_path: Path
) -> None:
    place.topics.create("in")
    place.topics.create("out", partitions=2)
    place.feed("in", ("a", "1", 1), ("b", "2", 2))
    directory = str(place.topics.directory)
    rows = spark.readStream.format("brookmere.topics").option("dir", directory).option("topic", "in").load()
    upper = rows.select("key", F.upper(rows.value.cast("string")).alias("value"), "timestamp", "headers")

    writer = upper.writeStream.format("brookmere.topics").option("dir", directory).option("topic", "out")
    query = writer.option("checkpointLocation", str(tmp_path / "ck")).start()
    query.processAllAvailable()
    query.stop()

    written = spark.read.format("brookmere.topics").option("dir", directory).option("topic", "out").load()
    found = written.selectExpr(
        "cast(key AS string)", "cast(value AS string)", "unix_millis(timestamp)"
    ).collect()
    assert sorted(tuple(row) for row in found) == [("a", "1", 1), ("b", "2", 2)]

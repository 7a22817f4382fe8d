"""Queries from embedded topics to embedded topics."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.errors import EngineError, ProcessingError, ProductionError, TopicError
from brookmere.plan.stages import plan
from brookmere.run.compiler import HANDLERS, compile_plan
from brookmere.run.embedded import launch
from brookmere.run.query import Query

Kept = tuple[bytes | None, bytes | None, int, tuple[tuple[str, bytes | None], ...]]


class Place:
    """A directory of topics and a checkpoint, and the way to run a program on them."""

    def __init__(self, directory: Path, spark: SparkSession) -> None:
        self.topics = bm.Topics(directory / "topics")
        self.checkpoint = directory / "checkpoint"
        self._spark = spark

    def feed(self, topic: str, *records: tuple[Any, Any, int], partition: int | None = None) -> None:
        rows = [bm.Record(_bytes(k), _bytes(v), ts, partition=partition) for k, v, ts in records]
        self.topics[topic].append(rows)

    @contextmanager
    def running(self, app: bm.StreamsBuilder, *, emit: str = "every", **options: Any) -> Iterator[Query]:
        topology = app.build()
        counts = {name: self.topics[name].partitions for name in self.topics.names()}
        compiled = compile_plan(
            plan(topology, counts),
            self._spark,
            last_per_batch=emit == "last",
            continue_on=options.get("continue_on", ()),
        )
        query = launch(
            compiled, session=self._spark, topics=self.topics.directory, application="app",
            checkpoint=self.checkpoint, **options,
        )  # fmt: skip
        try:
            yield query
        finally:
            query.stop()

    def run(self, app: bm.StreamsBuilder, **options: Any) -> None:
        with self.running(app, **options) as query:
            query.process_all_available()

    def read(self, topic: str, partition: int = 0) -> list[Kept]:
        return [(r.key, r.value, r.timestamp, r.headers) for r in self.topics[topic].read(partition)]


def _bytes(value: Any) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else str(value).encode()


@pytest.fixture
def place(tmp_path: Path, spark: SparkSession) -> Place:
    return Place(tmp_path, spark)


def values(kept: Sequence[Kept]) -> list[bytes | None]:
    return [value for _, value, _, _ in kept]


def copying(*topics: str) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Bytes(), value=bm.Bytes())
    app.stream(list(topics)).to("out")
    return app


def counting() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by(lambda key, value: value).count(store="n").to_stream().to(
        "out", value=bm.Long()
    )
    return app


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


def test_a_batch_that_is_done_again_is_not_written_again(place: Place) -> None:
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


def test_a_second_run_goes_on_where_the_first_ended(place: Place) -> None:
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


def failing() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Json("n int, d int"))
    numbers = app.stream("in")
    numbers.map_values(lambda value: value.n.cast("bigint")).to("out", value=bm.Long())
    numbers.group_by(lambda key, value: F.lit("all")).aggregate(
        0, lambda key, value, total: total + F.assert_true(value.d != 0).isNull().cast("int"), store="s"
    ).to_stream().to("sums", value=bm.Long())
    return app


def headers_of(record: bm.Record) -> dict[str, str]:
    return {name: (value or b"").decode() for name, value in record.headers}


def test_a_dead_letter_is_the_source_record_with_the_reason_in_its_headers(place: Place) -> None:
    for name in ("in", "out", "sums"):
        place.topics.create(name)
    place.topics["in"].append(
        [
            bm.Record(b"k", b'{"n":1,"d":1}', 1),
            bm.Record(b"k", b"no json", 2, (("h", b"own"),)),
            bm.Record(b"k", b'{"n":3,"d":0}', 3),
            bm.Record(None, b'{"n":4,"d":1}', 4),
        ]
    )

    with place.running(failing(), continue_on=HANDLERS, dead_letter="dead") as query:
        query.process_all_available()
        skipped = query.take_failures()

    assert [int.from_bytes(v or b"", "big") for v in values(place.read("out"))] == [1, 3, 4]
    assert len(values(place.read("sums"))) == 2
    bytes_failed, step_failed = list(place.topics["dead"].read(0))
    assert (bytes_failed.key, bytes_failed.value, bytes_failed.timestamp) == (b"k", b"no json", 2)
    assert bytes_failed.headers[0] == ("h", b"own")
    assert (step_failed.key, step_failed.value, step_failed.timestamp) == (b"k", b'{"n":3,"d":0}', 3)
    for record, offset in ((bytes_failed, "1"), (step_failed, "2")):
        found = headers_of(record)
        assert found["__streams.errors.topic"] == "in"
        assert found["__streams.errors.partition"] == "0"
        assert found["__streams.errors.offset"] == offset
        assert found["__streams.errors.exception"].count(".") >= 2
        assert found["__streams.errors.message"]
        assert "at " in found["__streams.errors.stacktrace"]
    assert [type(error).__name__ for error in skipped] == ["DeserializationError", "ProcessingError"]


def test_a_failure_without_handler_stops_the_query_and_writes_nothing_of_the_batch(place: Place) -> None:
    for name in ("in", "out", "sums"):
        place.topics.create(name)
    place.feed("in", ("k", '{"n":1,"d":0}', 1))

    with place.running(failing()) as query, pytest.raises(ProcessingError):
        query.process_all_available()

    assert place.read("out") == []


def test_a_record_that_its_topic_does_not_take_goes_to_the_production_handler(place: Place) -> None:
    place.topics.create("in", config={"max.message.bytes": 100_000})
    place.topics.create("out", config={"max.message.bytes": 1000})
    place.feed("in", ("k", "x" * 2000, 1), ("k", "small", 2))

    with place.running(copying("in")) as query, pytest.raises(ProductionError, match=r"max\.message\.bytes"):
        query.process_all_available()
    place.run(copying("in"), continue_on=HANDLERS, dead_letter="dead")

    assert values(place.read("out")) == [b"small"]
    assert values(place.read("dead")) == [b"x" * 2000]


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


def test_records_that_retention_removed_unread_are_told(place: Place) -> None:
    place.topics.create("in", config={"retention.ms": 1, "file.delete.delay.ms": 0})
    place.topics.create("out")
    place.feed("in", ("k", "first", 1))
    place.run(copying("in"))
    place.feed("in", ("k", "gone", 2))
    place.topics["in"].maintain()
    assert place.topics["in"].start_offsets() == [2]
    place.feed("in", ("k", "kept", 2))

    with place.running(copying("in")) as query, pytest.raises(EngineError, match=r"Retention removed .*'in'"):
        query.process_all_available()
    place.run(copying("in"), lost="continue")

    assert values(place.read("out")) == [b"first", b"kept"]


def test_a_topic_that_was_created_anew_is_not_read_from_an_old_place(place: Place) -> None:
    place.topics.create("in")
    place.topics.create("out")
    place.feed("in", ("k", "old", 1))
    place.run(copying("in"))
    place.topics.delete("in")
    place.topics.create("in")
    place.feed("in", ("k", "new", 1), ("k", "newer", 2))

    with place.running(copying("in")) as query, pytest.raises(EngineError, match="deleted and created anew"):
        query.process_all_available()


def test_a_damaged_segment_is_named_with_the_way_out(place: Place) -> None:
    place.topics.create("in")
    place.topics.create("out")
    place.feed("in", ("k", "x" * 100, 1))
    segment = next((place.topics["in"].directory / "segments").glob("*.arrow"))
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)

    with place.running(copying("in")) as query, pytest.raises(TopicError) as error:
        query.process_all_available()

    assert segment.name in str(error.value)
    assert "brookmere topics repair in" in str(error.value)


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

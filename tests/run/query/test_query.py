"""A query over the user's own streams: its results, where it resumes, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.run import Query, start_query
from brookmere.run.query.dataframes import OUTPUT
from tests.run.query.streams import Memory, Topic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Workshop:
    """Starts queries over the topics of a test, and stops them at its end."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.topic = Topic(folder / "in")
        self.checkpoint = folder / "checkpoint"
        self.sink = Memory()
        self.started: list[Query] = []

    def start(self, app: bm.StreamsBuilder, **options: Any) -> Query:
        given = {
            "sources": {"in": self.topic.stream(self.spark)},
            "sink": self.sink,
            "partitions": {"in": 1},
            "emit": "every",
            **options,
        }
        query = start_query(app.build(), session=self.spark, checkpoint=self.checkpoint, **given)
        self.started.append(query)
        return query

    def stop(self) -> None:
        for query in self.started:
            query.stop()


@pytest.fixture
def workshop(spark: SparkSession, tmp_path: Path) -> Iterator[Workshop]:
    shop = Workshop(spark, tmp_path)
    yield shop
    shop.stop()


def text_app() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("query", key=bm.Text(), value=bm.Text())


def counting(store_type: Any = "auto") -> bm.StreamsBuilder:
    app = text_app()
    counts = app.stream("in").group_by_key().count(store="counts", store_type=store_type)
    counts.map_values(lambda n: n.cast("string")).to_stream().to("out", value=bm.Text())
    return app


def test_sink_receives_rows_with_topic_bytes_time_headers_and_place(workshop: Workshop) -> None:
    app = text_app()
    app.stream("in").map_values(lambda v: F.upper(v)).to("out")
    workshop.topic.append([("k", "a", 5)], headers=[{"key": "h", "value": "eA=="}])
    workshop.topic.append([(None, None, 6)])

    workshop.start(app).process_all_available()

    assert workshop.sink.records() == [("out", "k", "A", 5), ("out", None, None, 6)]
    row = workshop.sink.rows[0]
    assert row.__fields__ == list(OUTPUT)
    assert [(h["key"], bytes(h["value"])) for h in row["headers"]] == [("h", b"x")]
    assert (row["failure"], row["task"]) == (None, 0)


def test_new_query_resumes_from_the_checkpoint(workshop: Workshop) -> None:
    workshop.topic.append([("a", "", 1), ("b", "", 2)])
    first = workshop.start(counting())
    first.process_all_available()
    first.stop()
    workshop.topic.append([("a", "", 3), ("a", "", 4)])

    workshop.start(counting()).process_all_available()

    assert workshop.sink.records() == [
        ("out", "a", "1", 1),
        ("out", "b", "1", 2),
        ("out", "a", "2", 3),
        ("out", "a", "3", 4),
    ]
    assert workshop.sink.batches == [0, 1]


def test_last_update_per_key_and_batch_is_the_default(workshop: Workshop) -> None:
    workshop.topic.append([("a", "", 1), ("a", "", 2), ("b", "", 3)])

    query = workshop.start(counting(), emit="last")
    query.process_all_available()
    workshop.topic.append([("a", "", 4)])
    query.process_all_available()

    assert sorted(workshop.sink.records()[:2]) == [("out", "a", "2", 2), ("out", "b", "1", 3)]
    assert workshop.sink.records()[2:] == [("out", "a", "3", 4)]


def test_inputs_are_merged_by_time_within_a_batch(workshop: Workshop) -> None:
    other = Topic(workshop.folder / "other")
    app = text_app()
    both = app.stream("in").merge(app.stream("other"))
    both.group_by_key().reduce(lambda agg, value: F.concat(agg, value)).to_stream().to("out")
    workshop.topic.append([("k", "a", 10), ("k", "d", 40), ("k", "c", 30)])
    other.append([("k", "b", 20), ("k", "e", 50)])

    sources = {"in": workshop.topic.stream(workshop.spark), "other": other.stream(workshop.spark)}
    workshop.start(app, sources=sources, partitions={"in": 1, "other": 1}).process_all_available()

    assert workshop.sink.values()[-1] == "abdce"


def test_partitions_keep_their_tasks(workshop: Workshop) -> None:
    workshop.topic.append([("k", "", 1)], partition=0)
    workshop.topic.append([("k", "", 2)], partition=2)
    workshop.topic.append([("k", "", 3)], partition=2)

    workshop.start(counting(), partitions={"in": 3}).process_all_available()

    assert [(row["task"], bytes(row["value"])) for row in workshop.sink.rows] == [
        (0, b"1"),
        (2, b"1"),
        (2, b"2"),
    ]


def test_time_may_be_a_timestamp(workshop: Workshop) -> None:
    workshop.topic.append([("k", "", 1500)])
    source = workshop.topic.stream(workshop.spark).withColumn("timestamp", F.timestamp_millis("timestamp"))

    workshop.start(counting(), sources={"in": source}).process_all_available()

    assert workshop.sink.records() == [("out", "k", "1", 1500)]


def test_available_data_is_processed_and_the_query_ends(workshop: Workshop) -> None:
    workshop.topic.append([("k", "", 1)])

    query = workshop.start(counting(), trigger={"availableNow": True}, name="once")

    assert query.handle.awaitTermination(60)
    assert query.handle.name == "once"
    assert query.failure() is None
    assert workshop.sink.values() == ["1"]


def test_taps_are_shown_in_addition_to_the_sink(workshop: Workshop) -> None:
    seen: list[Any] = []
    app = text_app()
    stream = app.stream("in").peek(lambda key, value: seen.append((key, value)))
    stream.group_by_key().count().to_stream().peek(lambda key, value: seen.append((key, value))).to("out")
    workshop.topic.append([("a", "x", 1), ("b", "y", 2)])

    query = workshop.start(app)
    query.process_all_available()

    assert seen == [("a", "x"), ("a", 1), ("b", "y"), ("b", 1)]
    assert [row["kind"] for row in workshop.sink.rows] == ["tap", "tap", "record"] * 2
    assert query.counters()["KSTREAM-SOURCE-0000000000"]["received"] == 2


def test_counters_count_each_record_once(workshop: Workshop) -> None:
    workshop.topic.append([("a", "", 1), ("a", "", 2), (None, "", 3)])

    query = workshop.start(counting())
    query.process_all_available()

    assert query.counters()["KSTREAM-AGGREGATE-0000000001"] == {
        "received": 3,
        "forwarded": 2,
        "dropped": 1,
        "failed": 0,
        "late": 0,
    }


def test_failing_record_ends_the_query_with_its_place(workshop: Workshop) -> None:
    app = text_app()
    app.stream("in").map_values(lambda v: v.cast("int"), name="parse").to("out")
    workshop.topic.append([("k", "1", 1), ("k", "x", 2)])
    query = workshop.start(app)

    with pytest.raises(bm.errors.ProcessingError) as caught:
        query.process_all_available()

    assert (caught.value.node, caught.value.topic, caught.value.offset) == ("parse", "in", 1)
    failure = query.failure()
    assert isinstance(failure, bm.errors.ProcessingError)
    assert failure.offset == 1
    assert workshop.sink.batches == []


def test_failing_record_of_a_stateful_stage_leaves_the_state_of_the_batch_before(workshop: Workshop) -> None:
    def summing(guard: bool) -> bm.StreamsBuilder:
        app = text_app()
        step = (
            (lambda v, agg: agg + F.coalesce(v.try_cast("int"), F.lit(0)))
            if guard
            else (lambda v, agg: agg + v.cast("int"))
        )
        sums = app.stream("in").group_by_key().aggregate(0, step, store="sums", name="sum")
        sums.map_values(lambda n: n.cast("string")).to_stream().to("out", value=bm.Text())
        return app

    workshop.topic.append([("k", "1", 1)])
    query = workshop.start(summing(guard=False))
    query.process_all_available()
    workshop.topic.append([("k", "2", 2), ("k", "x", 3)])
    with pytest.raises(bm.errors.ProcessingError, match="node sum, task 0, topic in, partition 0, offset 2"):
        query.process_all_available()

    workshop.start(summing(guard=True)).process_all_available()

    assert workshop.sink.values() == ["1", "3", "3"]


def test_failures_are_rows_where_the_query_continues(workshop: Workshop) -> None:
    app = bm.StreamsBuilder("query", key=bm.Text(), value=bm.Json("n int"))
    app.stream("in", name="source").map_values(lambda v: 10 / v.n, name="divide").to("out")
    workshop.topic.append([("k", '{"n":5}', 1), ("k", "{", 2), ("k", '{"n":0}', 3), ("k", '{"n":2}', 4)])

    workshop.start(app, on_error="continue").process_all_available()

    assert [row["kind"] for row in workshop.sink.rows] == ["record", "error", "error", "record"]
    unreadable, failed = (row["failure"] for row in workshop.sink.rows[1:3])
    assert (unreadable["stage"], unreadable["node"], unreadable["offset"]) == ("deserialization", "source", 1)
    assert bytes(unreadable["value"]) == b"{"
    assert (failed["stage"], failed["node"], failed["offset"]) == ("processing", "divide", 2)
    assert "DIVIDE_BY_ZERO" in failed["message"]
    assert failed["topic"] == "in"


def test_failure_of_the_sink_is_distinguished_from_those_of_records(workshop: Workshop) -> None:
    def broken(rows: Any, batch: int) -> None:
        raise OSError("the disk is full")

    workshop.topic.append([("k", "", 1)])
    query = workshop.start(counting(), sink=broken)

    with pytest.raises(bm.errors.EngineError, match="failed with OSError: the disk is full") as caught:
        query.process_all_available()

    assert isinstance(caught.value.__cause__, OSError)


def test_rocksdb_state_is_read_with_its_types(workshop: Workshop, spark: SparkSession) -> None:
    app = bm.StreamsBuilder("query", key=bm.Text(), value=bm.Json("city string, n int"))
    grouped = app.stream("in").group_by_key()
    grouped.agg(store="stats", store_type="rocksdb", total=bm.sum("n"), cities=bm.collect_list("city"))
    workshop.topic.append([("k", '{"city":"Ulm","n":1}', 7), ("k", '{"city":"Bern","n":2}', 9)])
    query = workshop.start(app)
    query.process_all_available()
    query.stop()

    reader = spark.read.format("statestore").option("stateVarName", "stats")
    state = reader.load(str(workshop.checkpoint)).selectExpr("user_map_key AS k", "user_map_value AS v")

    assert state.schema["k"].dataType.simpleString() == "struct<value:string>"
    (row,) = state.collect()
    assert row["k"]["value"] == "k"
    assert row["v"]["ts"] == 9
    assert row["v"]["v"].asDict() == {"total": 3, "cities": ["Ulm", "Bern"]}


def test_number_of_spark_partitions_is_that_of_the_checkpoint(workshop: Workshop) -> None:
    workshop.topic.append([("k", "", 1)], partition=3)
    first = workshop.start(counting(), partitions={"in": 4}, spark_partitions=3)
    first.process_all_available()
    first.stop()
    workshop.topic.append([("k", "", 2)], partition=3)

    second = workshop.start(counting(), partitions={"in": 4}, spark_partitions=1)
    second.process_all_available()

    progress = second.handle.lastProgress
    assert progress is not None
    assert progress["stateOperators"][0]["numShufflePartitions"] == 3
    assert workshop.sink.values() == ["1", "2"]
    assert workshop.spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_store_that_stays_keeps_its_state_when_the_program_gains_another(workshop: Workshop) -> None:
    workshop.topic.append([("k", "", 1)])
    first = workshop.start(counting())
    first.process_all_available()
    first.stop()
    app = text_app()
    grouped = app.stream("in").group_by_key()
    grouped.reduce(lambda agg, value: F.concat(agg, value), store="texts").to_stream().to("texts")
    counts = grouped.count(store="counts")
    counts.map_values(lambda n: n.cast("string")).to_stream().to("out", value=bm.Text())
    workshop.topic.append([("k", "x", 2)])

    workshop.start(app).process_all_available()

    assert workshop.sink.records()[1:] == [("texts", "k", "x", 2), ("out", "k", "2", 2)]


@pytest.mark.parametrize("store_type", ["rocksdb", "auto", "memory"])
def test_store_that_changes_its_type_is_refused(workshop: Workshop, store_type: Any) -> None:
    workshop.topic.append([("k", "text", 1)])
    first = workshop.start(counting(store_type))
    first.process_all_available()
    first.stop()
    app = text_app()
    grouped = app.stream("in").group_by_key()
    grouped.reduce(lambda agg, value: F.concat(agg, value), store="counts", store_type=store_type)
    workshop.topic.append([("k", "text", 2)])

    with pytest.raises(bm.errors.EngineError, match="a store with values of another type") as caught:
        workshop.start(app).process_all_available()

    assert "LongType" in str(caught.value)
    assert "StringType" in str(caught.value)
    assert "Give the result a new name with store=" in str(caught.value)


def test_missing_topics_and_columns_are_refused_together(workshop: Workshop, spark: SparkSession) -> None:
    app = text_app()
    app.stream("in").merge(app.stream("orders"), app.stream("lines")).to("out")
    sources = {
        "in": workshop.topic.stream(spark).drop("offset", "partition"),
        "order": workshop.topic.stream(spark),
        "lines": spark.range(1).selectExpr(
            "'' AS key", "'' AS value", "0 AS partition", "id AS offset", "id AS timestamp"
        ),
    }

    with pytest.raises(bm.errors.TopologyError) as caught:
        workshop.start(app, sources=sources, partitions=dict.fromkeys(["in", "orders", "lines"], 1))

    assert [str(fault) for fault in caught.value.faults] == [
        "The DataFrame of 'in' has no column partition, offset. Add it.",
        "There is no DataFrame for the topic 'orders'. Did you mean 'order'?",
        "The DataFrame of 'lines' is not a stream. Read it with spark.readStream.",
    ]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"emit": "al"}, "There is no emit='al'. Use one of: every, last."),
        ({"on_error": "contine"}, "There is no on_error='contine'. Did you mean 'continue'?"),
        ({"store_type": None}, "There is no store_type=None. Use one of: auto, memory, rocksdb."),
    ],
)
def test_option_that_there_is_not_is_refused(workshop: Workshop, option: dict[str, Any], words: str) -> None:
    with pytest.raises(bm.errors.ConfigError) as caught:
        workshop.start(counting(), **option)

    assert str(caught.value) == words


def test_bad_lambdas_are_refused_before_the_query_starts(workshop: Workshop) -> None:
    app = text_app()
    app.stream("in").map_values(lambda v: F.rand()).to("out")

    with pytest.raises(bm.errors.ExpressionError, match="uses rand"):
        workshop.start(app)

    assert not workshop.checkpoint.exists()


def test_record_of_a_partition_that_should_not_be_is_a_clear_failure(workshop: Workshop) -> None:
    workshop.topic.append([("k", "", 1)], partition=5)
    query = workshop.start(counting(), partitions={"in": 2})

    with pytest.raises(bm.errors.BrookmereError, match="partition 5"):
        query.process_all_available()

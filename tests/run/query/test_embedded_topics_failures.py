"""Records, topics and files that a query over embedded topics cannot use."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.errors import EngineError, ProcessingError, ProductionError, TopicError
from brookmere.run.compile.compiler import HANDLERS
from tests.run.places import Place, copying, values


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


def test_records_that_retention_removed_unread_are_reported(place: Place) -> None:
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


def test_a_recreated_topic_is_not_read_from_an_old_offset(place: Place) -> None:
    place.topics.create("in")
    place.topics.create("out")
    place.feed("in", ("k", "old", 1))
    place.run(copying("in"))
    place.topics.delete("in")
    place.topics.create("in")
    place.feed("in", ("k", "new", 1), ("k", "newer", 2))

    with place.running(copying("in")) as query, pytest.raises(EngineError, match="deleted and recreated"):
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

"""Where the time of a record comes from, and how invalid times are handled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

EVENT = bm.Json("at bigint, text string, inner struct<at double>")
Engine = Literal["local", "spark"]


def _times(
    records: list[tuple[str, dict[str, Any]]], *, engine: Engine = "local", own: int = 7, **source: Any
) -> list[int]:
    app = bm.StreamsBuilder("times", key=bm.Text(), value=EVENT)
    app.stream("in", **source).to("out")
    with TopologyTestDriver(app, engine=engine) as driver:
        driver.pipe_records([("in", bm.Record(key, value, own)) for key, value in records])
        return [record.timestamp for record in driver.output_topic("out").read_records_to_list()]


def _event(at: int | None = None, text: str | None = None, inner: float | None = None) -> dict[str, Any]:
    return {"at": at, "text": text, "inner": {"at": inner}}


@pytest.mark.parametrize("timestamp", [None, bm.record_time])
def test_the_records_own_time_is_the_default(timestamp: Any) -> None:
    assert _times([("a", _event(5))], timestamp=timestamp) == [7]


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        ("at", 5),
        ("text", 6),
        ("inner.at", 8),
        (lambda value: value.at, 5),
        (lambda key, value: value.at + F.length(key), 6),
        (lambda key, value, timestamp: value.at + timestamp, 12),
        (lambda value: F.timestamp_millis(value.at), 5),
    ],
)
def test_the_time_comes_from_a_field_or_a_function(timestamp: Any, expected: int) -> None:
    assert _times([("a", _event(5, "6", 8.5))], timestamp=timestamp) == [expected]


@pytest.mark.parametrize(
    ("timestamp", "event", "found"),
    [("at", _event(None), "null"), ("at", _event(-5), "-5"), ("text", _event(text="soon"), "null")],
)
def test_an_invalid_time_fails_with_the_place_of_the_record(timestamp: str, event: Any, found: str) -> None:
    with pytest.raises(bm.errors.TimestampError) as caught:
        _times([("a", _event(5, "5")), ("a", event)], timestamp=timestamp)

    error = caught.value
    assert (error.topic, error.partition, error.offset) == ("in", 0, 1)
    assert f"the timestamp is {found}" in str(error)
    assert "on_invalid_timestamp" in str(error)
    assert error.value is not None


def test_an_invalid_time_fails_even_if_unreadable_records_are_skipped() -> None:
    app = bm.StreamsBuilder("times", key=bm.Text(), value=EVENT)
    app.stream("in", timestamp="at").to("out")

    with TopologyTestDriver(app, on_error="continue") as driver, pytest.raises(bm.errors.TimestampError):
        driver.input_topic("in").pipe_input("a", _event(-1))


def test_a_record_with_an_invalid_time_can_be_skipped_and_is_counted() -> None:
    app = bm.StreamsBuilder("times", key=bm.Text(), value=EVENT)
    app.stream("in", timestamp="at", on_invalid_timestamp="skip", name="source").to("out")

    with TopologyTestDriver(app) as driver:
        driver.pipe_records([("in", bm.Record("a", _event(at), 7)) for at in (5, None, -1, 6)])
        times = [record.timestamp for record in driver.output_topic("out").read_records_to_list()]

        assert times == [5, 6]
        assert driver.counters["source"]["dropped"] == 2


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_partition_time_is_the_highest_time_so_far(engine: Engine) -> None:
    records = [("a", _event(at)) for at in (None, 9, 5, None, 10, -3)]

    times = _times(records, engine=engine, timestamp="at", on_invalid_timestamp="partition-time")

    # Before the first valid time there is only the record's own.
    assert times == [7, 9, 5, 9, 10, 10]


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_wall_clock_is_the_time_of_processing(engine: Engine) -> None:
    app = bm.StreamsBuilder("times", key=bm.Text(), value=bm.Text())
    app.stream("in", timestamp=bm.wall_clock).to("out")

    with TopologyTestDriver(app, engine=engine, start_time=1000) as driver:
        topic = driver.input_topic("in")
        topic.pipe_input("a", "x", timestamp=5)
        driver.advance_wall_clock(timedelta(seconds=2))
        topic.pipe_input("a", "y", timestamp=5)
        times = [record.timestamp for record in driver.output_topic("out").read_records_to_list()]

    assert times == [1000, 3000]


def test_a_table_takes_its_time_from_a_field() -> None:
    app = bm.StreamsBuilder("times", key=bm.Text(), value=EVENT)
    app.table("in", timestamp="at", on_invalid_timestamp="skip").to_stream().to("out")

    with TopologyTestDriver(app) as driver:
        driver.pipe_records([("in", bm.Record("a", _event(at), 7)) for at in (5, None, 4)])
        times = [record.timestamp for record in driver.output_topic("out").read_records_to_list()]

    assert times == [5, 4]


def test_invalid_timestamp_argument_is_refused_at_its_line() -> None:
    app = bm.StreamsBuilder("times", key=bm.Text(), value=EVENT)
    wrong: Any = 5
    misspelt: Any = "skipp"

    with pytest.raises(bm.errors.TopologyError, match="must be a field of the value, a function or a clock"):
        app.stream("in", timestamp=wrong)
    with pytest.raises(bm.errors.TopologyError, match="Did you mean 'skip'"):
        app.stream("in", on_invalid_timestamp=misspelt)

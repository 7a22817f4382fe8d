"""Input and output topics: time, headers, serdes, and every way to read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serde import BadBytes
from brookmere.testing import TopologyTestDriver

pytestmark = pytest.mark.usefixtures("spark")


def copying(**options: Any) -> TopologyTestDriver:
    app = bm.StreamsBuilder("copy", key=bm.Text(), value=bm.Text())
    app.stream("in").to("out")
    return TopologyTestDriver(app, **options)


def times(driver: TopologyTestDriver) -> list[int]:
    return [record.timestamp for record in driver.output_topic("out").read_records_to_list()]


def test_time_of_a_topic_advances_by_itself() -> None:
    with copying() as driver:
        feed = driver.input_topic("in", start_time=100, advance=timedelta(milliseconds=10))
        feed.pipe_values(["a", "b"])
        feed.advance_time(timedelta(seconds=1))
        feed.pipe_key_values([("k", "c"), ("k", "d")])

        assert times(driver) == [100, 110, 1120, 1130]


def test_given_time_does_not_move_the_time_of_the_topic() -> None:
    with copying(start_time=datetime(1970, 1, 1, 0, 0, 1)) as driver:
        feed = driver.input_topic("in", advance=timedelta(seconds=1))
        feed.pipe_input("a")
        feed.pipe_input("b", timestamp=5)
        feed.pipe_input("c", timestamp=datetime(1970, 1, 1, 0, 1, tzinfo=UTC))
        feed.pipe_input("d")

        assert times(driver) == [1000, 5, 60_000, 2000]


def test_start_of_a_topic_may_be_a_datetime() -> None:
    with copying() as driver:
        driver.input_topic("in", start_time=datetime(1970, 1, 2, tzinfo=UTC)).pipe_input("a")

        assert times(driver) == [86_400_000]


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({"a": b"1", "b": b""}, (("a", b"1"), ("b", b""))),
        ([("a", b"1"), ("a", None)], (("a", b"1"), ("a", None))),
        ((), ()),
        ([("ü", b"\xff")], (("ü", b"\xff"),)),
    ],
)
def test_headers_go_through(given: Any, seen: tuple[tuple[str, bytes | None], ...]) -> None:
    with copying() as driver:
        driver.input_topic("in").pipe_input("k", "v", headers=given)

        assert driver.output_topic("out").read_record().headers == seen


def test_records_are_piped_unchanged() -> None:
    record = bm.Record("k", "v", 42, (("h", b"x"),))

    with copying() as driver:
        driver.input_topic("in").pipe_records([record, bm.Record(None, None, 43)])

        first, second = driver.output_topic("out").read_records_to_list()
    assert first == bm.Record("k", "v", 42, (("h", b"x"),), "out", 0)
    assert (second.key, second.value, second.timestamp) == (None, None, 43)


def test_value_alone_has_no_key() -> None:
    with copying() as driver:
        driver.input_topic("in").pipe_input("v")

        assert driver.output_topic("out").read_key_value() == (None, "v")


def test_more_than_key_and_value_is_refused() -> None:
    with (
        copying() as driver,
        pytest.raises(TypeError, match="a value, or a key and a value; found 3 arguments"),
    ):
        driver.input_topic("in").pipe_input("a", "b", "c")


def test_value_of_another_type_is_refused_before_it_is_piped() -> None:
    with copying() as driver:
        with pytest.raises(TypeError, match="Text writes a str, found int 5"):
            driver.input_topic("in").pipe_input("k", 5)

        assert driver.output_topic("out").is_empty()


def test_every_way_to_read() -> None:
    with copying() as driver:
        driver.input_topic("in").pipe_key_values([(key, key.upper()) for key in "abcdefg"] + [("g", "X")])
        out = driver.output_topic("out")

        assert out.queue_size() == 8
        assert out.read_record().key == "a"
        assert out.read_value() == "B"
        assert out.read_key_value() == ("c", "C")
        assert out.queue_size() == 5
        driver.output_topic("out").read_value()
        assert not out.is_empty()
        assert out.read_key_values_to_map() == {"e": "E", "f": "F", "g": "X"}
        assert out.is_empty()
        assert out.read_records_to_list() == []
        assert out.read_values_to_list() == []
        assert out.read_key_values_to_list() == []
        assert out.read_key_values_to_map() == {}


def test_reading_from_an_empty_topic_is_an_error() -> None:
    with copying() as driver:
        out = driver.output_topic("out")

        for read in (out.read_record, out.read_value, out.read_key_value):
            with pytest.raises(
                LookupError, match="The topic 'out' has no more records; check is_empty\\(\\) first"
            ):
                read()


def test_serdes_of_a_topic_can_be_replaced() -> None:
    with copying() as driver:
        driver.input_topic("in", key=bm.Bytes(), value=bm.Bytes()).pipe_input(b"k", b"\x31\x32\x33\x34")

        assert driver.output_topic("out", value=bm.Int()).read_key_value() == ("k", 0x31323334)


def test_output_that_does_not_decode_says_why() -> None:
    with copying() as driver:
        driver.input_topic("in").pipe_input("k", "v")

        with pytest.raises(BadBytes, match="expected 8 bytes for a Long, found 1"):
            driver.output_topic("out", value=bm.Long()).read_value()


TIMES: dict[str, tuple[Any, list[int]]] = {
    "number": (lambda v: v.n, [70, 40]),
    "int_of_key_and_value": (lambda key, value: value.n + F.length(key), [71, 41]),
    "timestamp": (lambda v: v.at, [1_000, 2_500]),
    "text_made_a_timestamp": (lambda v: v.text.cast("timestamp"), [3_000, 4_000]),
    "time_of_the_record_moved": (lambda key, value, timestamp: timestamp + 1, [6, 7]),
}


@pytest.mark.parametrize("case", TIMES)
def test_timestamp_is_taken_from_the_record(case: str) -> None:
    extract, expected = TIMES[case]
    app = bm.StreamsBuilder("times", key=bm.Text(), value=bm.Json("n int, at timestamp, text string"))
    app.stream("in", timestamp=extract, name="source").to("out")

    with TopologyTestDriver(app) as driver:
        feed = driver.input_topic("in", start_time=5, advance=timedelta(milliseconds=1))
        feed.pipe_input("k", {"n": 70, "at": "1970-01-01T00:00:01Z", "text": "1970-01-01 00:00:03"})
        feed.pipe_input("k", {"n": 40, "at": "1970-01-01T00:00:02.500Z", "text": "1970-01-01 00:00:04"})

        assert times(driver) == expected

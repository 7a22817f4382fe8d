"""A record that fails stops the program or is set aside with its place and its reason; it is never lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.config import Handler
from brookmere.testing import TopologyTestDriver

pytestmark = pytest.mark.usefixtures("spark")


@dataclass
class Point:
    x: int
    label: str | None
    path: list[int]


JSON = bm.Json(
    "a bigint, s string, d double, m decimal(5,2), at timestamp, xs array<int>, o struct<z: int>, b boolean"
)
WINDOW = bm.Windowed(bm.Text(), size=timedelta(seconds=5))

UNREADABLE: dict[str, tuple[bm.Serde, bytes, str]] = {
    "text_not_utf8": (bm.Text(), b"abc\xff", "not UTF-8"),
    "text_too_long_form": (bm.Text(), b"\xc0\xaf", "not UTF-8"),
    "text_half_a_pair": (bm.Text(), b"\xed\xa0\x80", "not UTF-8"),
    "int_of_3_bytes": (bm.Int(), b"\x00\x00\x01", "expected 4 bytes for an Int, found 3"),
    "int_empty": (bm.Int(), b"", "expected 4 bytes for an Int, found 0"),
    "long_of_4_bytes": (bm.Long(), b"\x00\x00\x00\x01", "expected 8 bytes for a Long, found 4"),
    "double_as_text": (bm.Double(), b"1.5", "expected 8 bytes for a Double, found 3"),
    "bool_two": (bm.Bool(), b"\x02", "expected 0 or 1 for a Bool, found 2"),
    "bool_empty": (bm.Bool(), b"", "expected 1 byte for a Bool, found 0"),
    "json_empty": (JSON, b"", "null"),
    "json_blank": (JSON, b"  ", "null"),
    "json_null": (JSON, b"null", "JSON root field"),
    "json_array": (JSON, b'[{"a":1}]', "arrays as structs"),
    "json_number": (JSON, b"1", ""),
    "json_text": (JSON, b'"{}"', ""),
    "json_with_text_behind": (JSON, b'{"a":1} x', "there is more after the JSON value"),
    "json_two_objects": (JSON, b'{"a":1}\n{"a":2}', "there is more after the JSON value"),
    "json_one_brace_too_many": (JSON, b'{"s":"}"}}', "there is more after the JSON value"),
    "json_truncated": (JSON, b'{"a":1', "end-of-input"),
    "json_malformed": (JSON, b'{"a":}', "Unexpected character"),
    "json_without_quotes": (JSON, b"{a:1}", "Unexpected character"),
    "json_single_quotes": (JSON, b"{'a':1}", "Unexpected character"),
    "json_not_utf8": (JSON, b'{"s":"\xff"}', "not UTF-8"),
    "json_text_for_a_number": (JSON, b'{"a":"1"}', "field name 'a'"),
    "json_fraction_for_a_whole_number": (JSON, b'{"a":1.5}', "field name 'a'"),
    "json_number_too_large": (JSON, b'{"a":99999999999999999999}', "out of range of long"),
    "json_text_for_a_double": (JSON, b'{"d":"x"}', "field `d`"),
    "json_decimal_too_large": (JSON, b'{"m":12345.6}', "Decimal(5, 2)"),
    "json_bad_time": (JSON, b'{"at":"noon"}', "'noon'"),
    "json_bad_element": (JSON, b'{"xs":[1,"a"]}', "INT"),
    "json_bad_inner_field": (JSON, b'{"o":{"z":"q"}}', "field name 'z'"),
    "json_array_for_a_struct": (JSON, b'{"o":[]}', "field name 'o'"),
    "json_text_for_a_boolean": (JSON, b'{"b":"true"}', "field name 'b'"),
    "json_field_missing": (bm.Json("a bigint NOT NULL, b int"), b'{"b":1}', "value.a is null or absent"),
    "dataclass_field_missing": (bm.Json(Point), b'{"label":"l","path":[]}', "value.x is null or absent"),
    "dataclass_field_null": (bm.Json(Point), b'{"x":null,"path":[]}', "value.x is null or absent"),
    "dataclass_element_null": (bm.Json(Point), b'{"x":1,"path":[1,null]}', "null among its elements"),
    "map_of_wrong_values": (bm.Json("map<string,int>"), b'{"a":"x"}', ""),
    "window_short": (WINDOW, b"1234567", "expected at least 8 bytes"),
    "window_before_1970": (WINDOW, b"k" + (-5).to_bytes(8, "big", signed=True), "before 1970"),
    "window_key": (WINDOW, b"\xff" + bytes(8), "not UTF-8"),
    "session_short": (bm.Windowed(bm.Text(), session=True), bytes(15), "expected at least 16 bytes"),
    "session_reversed": (bm.Windowed(bm.Text(), session=True), bytes(15) + b"\x01", "end before it starts"),
    "window_json_without_key": (bm.Windowed(bm.Text(), form="json"), b'{"start":1,"end":2}', "key is null"),
    "window_json_without_end": (bm.Windowed(bm.Text(), form="json"), b'{"key":"k","start":1}', "end is null"),
    "custom_gives_null": (
        bm.Custom(
            lambda raw: F.when(F.length(raw) > 1, raw.cast("string")), lambda value: value.cast("binary")
        ),
        b"x",
        "the serde returned null",
    ),
    "custom_fails": (
        bm.Custom(lambda raw: raw.cast("string").cast("int"), lambda value: value.cast("string")),
        b"twelve",
        "'twelve'",
    ),
}


def reader(serde: bm.Serde, *, as_key: bool = False) -> tuple[bm.StreamsBuilder, list[Any]]:
    app = bm.StreamsBuilder("reader")
    seen: list[Any] = []
    key, value = (serde, bm.Bytes()) if as_key else (bm.Bytes(), serde)
    app.stream("in", key=key, value=value, name="source").foreach(
        lambda k, v: seen.append(k if as_key else v)
    )
    return app, seen


def raw(driver: TopologyTestDriver, *records: tuple[bytes | None, bytes | None]) -> None:
    driver.input_topic("in", key=bm.Bytes(), value=bm.Bytes()).pipe_key_values(records)


@pytest.mark.parametrize("case", UNREADABLE)
def test_unreadable_value_is_set_aside_and_the_next_record_processed(case: str) -> None:
    serde, data, words = UNREADABLE[case]
    app, seen = reader(serde)

    with TopologyTestDriver(app, on_error="continue") as driver:
        raw(driver, (b"k", None), (b"k", data), (b"k", None))

        (error,) = driver.errors
    assert seen == [None, None]
    assert isinstance(error, bm.errors.DeserializationError)
    assert words in error.message
    assert (error.topic, error.partition, error.offset, error.node) == ("in", 0, 1, "source")
    assert (error.key, error.value) == (b"k", data)
    assert error.reason
    assert error.message not in ("", "null")
    assert "SQLSTATE" not in str(error)


@pytest.mark.parametrize("case", ["text_not_utf8", "long_of_4_bytes", "json_truncated", "window_short"])
def test_unreadable_key_is_set_aside(case: str) -> None:
    serde, data, words = UNREADABLE[case]
    app, seen = reader(serde, as_key=True)

    with TopologyTestDriver(app, on_error="continue") as driver:
        raw(driver, (data, b"v"), (None, b"v"))

        (error,) = driver.errors
    assert seen == [None]
    assert words in error.message
    assert (error.key, error.value) == (data, b"v")


def test_unreadable_record_stops_the_program_where_it_must_not_continue() -> None:
    app, seen = reader(bm.Int())

    with TopologyTestDriver(app) as driver:
        raw(driver, (b"k", b"\x00\x00\x00\x01"))
        with pytest.raises(bm.errors.DeserializationError) as caught:
            raw(driver, (b"k", b"one"))

    assert seen == [1]
    assert str(caught.value) == (
        "A record could not be read at node source, task 0, topic in, partition 0, offset 1: "
        "brookmere.kernel.core.BadBytes: expected 4 bytes for an Int, found 3. "
        "Found: key b'k', value b'one'. "
        "Give the source a serde that can read these bytes, "
        "or let deserialization.exception.handler continue past such records."
    )


def test_place_of_a_failure_names_partition_and_offset() -> None:
    app, _ = reader(bm.Int())

    with TopologyTestDriver(app, partitions=3, on_error="continue") as driver:
        feed = driver.input_topic("in", key=bm.Bytes(), value=bm.Bytes())
        feed.pipe_input(b"k", b"bad", partition=2)
        feed.pipe_input(b"k", b"bad", partition=0)
        feed.pipe_input(b"k", b"bad", partition=2)

        places = [(error.task, error.partition, error.offset) for error in driver.errors]
    assert places == [(2, 2, 0), (0, 0, 0), (2, 2, 1)]


def two_sources(first: Handler | None, second: Handler | None) -> tuple[bm.StreamsBuilder, list[Any]]:
    app = bm.StreamsBuilder("reader", key=bm.Bytes(), value=bm.Int())
    seen: list[Any] = []
    app.stream("in", on_bad_record=first).foreach(lambda k, v: seen.append(v))
    app.table("other", on_bad_record=second)
    return app, seen


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_source_skips_bad_records_where_the_program_fails(engine: Literal["local", "spark"]) -> None:
    app, seen = two_sources("continue", None)

    with TopologyTestDriver(app, engine=engine) as driver:
        raw(driver, (b"k", b"one"), (b"k", bm.Int().serialize(2)))
        assert [(error.topic, error.offset) for error in driver.errors] == [("in", 0)]
        assert driver.errors[0].trace is not None
        assert "BadBytes" in driver.errors[0].trace

        with pytest.raises(bm.errors.DeserializationError, match="topic other") as caught:
            driver.input_topic("other", value=bm.Bytes()).pipe_input(b"k", b"one")
    assert seen == [2]
    assert caught.value.trace is not None
    assert "BadBytes" in caught.value.trace


def test_source_fails_on_a_bad_record_where_the_program_continues() -> None:
    app, seen = two_sources(None, "fail")

    with TopologyTestDriver(app, on_error="continue") as driver:
        raw(driver, (b"k", b"one"))
        with pytest.raises(bm.errors.DeserializationError, match="topic other"):
            driver.input_topic("other", value=bm.Bytes()).pipe_input(b"k", b"one")

        assert [error.topic for error in driver.errors] == ["in"]
    assert seen == []


def divider() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("divider", key=bm.Text(), value=bm.Json("n int, by int"))
    stream = app.stream("in")
    stream.map_values(lambda v: v.n / v.by, name="divide").to("out", value=bm.Double())
    stream.map_values(lambda v: v.n).to("other")
    return app


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_failing_operator_affects_only_what_follows_it(engine: Literal["local", "spark"]) -> None:
    with TopologyTestDriver(divider(), engine=engine, on_error="continue") as driver:
        driver.pipe_records(
            [("in", bm.Record("k", {"n": n, "by": by}, 0)) for n, by in [(1, 1), (2, 0), (3, 1)]]
        )

        (error,) = driver.errors
        assert driver.output_topic("out").read_values_to_list() == [1.0, 3.0]
        assert driver.output_topic("other").read_values_to_list() == [1, 2, 3]
    assert isinstance(error, bm.errors.ProcessingError)
    assert (error.node, error.topic, error.partition, error.offset) == ("divide", "in", 0, 1)
    assert error.reason == "org.apache.spark.SparkArithmeticException"
    assert "DIVIDE_BY_ZERO" in error.message


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_failing_operator_stops_the_program(engine: Literal["local", "spark"]) -> None:
    with TopologyTestDriver(divider(), engine=engine) as driver:
        feed = driver.input_topic("in")
        feed.pipe_input("k", {"n": 1, "by": 1})
        with pytest.raises(bm.errors.ProcessingError) as caught:
            feed.pipe_input("k", {"n": 1, "by": 0})

        assert driver.output_topic("out").read_values_to_list() == [1.0]
        assert driver.errors == []
    assert (caught.value.node, caught.value.offset) == ("divide", 1)


def test_failing_step_leaves_the_aggregate_as_it_was() -> None:
    app = bm.StreamsBuilder("sum", key=bm.Text(), value=bm.Int())
    app.stream("in").group_by_key().aggregate(
        0, lambda value, agg: agg + 10 / value, store="sums", name="sum"
    )

    with TopologyTestDriver(app, on_error="continue") as driver:
        driver.input_topic("in").pipe_key_values([("k", 5), ("k", 0), ("k", 10)])

        assert driver.store("sums").get("k") == 3.0
        assert [error.node for error in driver.errors] == ["sum"]


def test_value_that_cannot_be_written_is_a_production_error() -> None:
    serde = bm.Custom(lambda raw: raw, lambda value: value.cast("int").cast("string"))
    app = bm.StreamsBuilder("writer", key=bm.Text(), value=bm.Text())
    app.stream("in").to("out", value=serde, name="sink")

    with TopologyTestDriver(app, on_error="continue") as driver:
        driver.input_topic("in").pipe_key_values([("k", "1"), ("k", "one"), ("k", "2")])

        assert driver.output_topic("out", value=bm.Bytes()).read_values_to_list() == [b"1", b"2"]
        (error,) = driver.errors
    assert isinstance(error, bm.errors.ProductionError)
    assert (error.node, error.offset) == ("sink", 1)
    assert "'one'" in error.message


def test_record_without_a_topic_is_a_production_error() -> None:
    app = bm.StreamsBuilder("router", key=bm.Text(), value=bm.Text())
    app.stream("in").to(lambda value: F.nullif(value, F.lit("nowhere")), name="router")

    with TopologyTestDriver(app, on_error="continue") as driver:
        driver.input_topic("in").pipe_values(["a", "nowhere", "a"])

        assert driver.output_topic("a").queue_size() == 2
        (error,) = driver.errors
    assert isinstance(error, bm.errors.ProductionError)
    assert "the function that names the topic returned null" in error.message

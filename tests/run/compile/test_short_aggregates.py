"""agg(): each short form, over nulls, types and updates of tables."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from tests.run.programs import fault_of

pytestmark = pytest.mark.usefixtures("spark")

SCHEMA = "x int, y double, m decimal(10,2), s string, inner struct<z: bigint>, f float"
VALUES: list[dict[str, Any]] = [
    {"x": 3, "y": 0.5, "m": 1.25, "s": "b", "inner": {"z": 7}, "f": 0.5},
    {},
    {"x": 1, "y": 1.5, "m": 2.5, "s": "a", "inner": {"z": 8}, "f": 0.25},
    {"x": 3, "y": None, "m": None, "s": "b", "inner": None, "f": None},
]

FORMS: dict[str, tuple[Any, list[Any]]] = {
    "count": (bm.count(), [1, 2, 3, 4]),
    "sum": (bm.sum("x"), [3, 3, 4, 7]),
    "sum_of_doubles": (bm.sum("y"), [0.5, 0.5, 2.0, 2.0]),
    "sum_of_decimals": (bm.sum("m"), [Decimal("1.25"), Decimal("1.25"), Decimal("3.75"), Decimal("3.75")]),
    "sum_of_floats": (bm.sum("f"), [0.5, 0.5, 0.75, 0.75]),
    "avg": (bm.avg("x"), [3.0, 3.0, 2.0, 7 / 3]),
    "avg_of_decimals": (bm.avg("m"), [1.25, 1.25, 1.875, 1.875]),
    "min": (bm.min("x"), [3, 3, 1, 1]),
    "min_of_texts": (bm.min("s"), ["b", "b", "a", "a"]),
    "max": (bm.max("y"), [0.5, 0.5, 1.5, 1.5]),
    "first": (bm.first("s"), ["b", "b", "b", "b"]),
    "last": (bm.last("s"), ["b", "b", "a", "b"]),
    "collect_list": (bm.collect_list("x"), [[3], [3], [3, 1], [3, 1, 3]]),
    "collect_set": (bm.collect_set("x"), [[3], [3], [3, 1], [3, 1]]),
    "top_n": (bm.top_n("x", 2), [[3], [3], [3, 1], [3, 3]]),
    "inner_field": (bm.sum("inner.z"), [7, 7, 15, 15]),
    "function": (bm.sum(lambda v: v.x * 10), [30, 30, 40, 70]),
    "last_struct": (bm.last("inner"), [{"z": 7}, {"z": 7}, {"z": 8}, {"z": 8}]),
}


def seen_by_foreach(form: str) -> list[Any]:
    app = bm.StreamsBuilder("agg", key=bm.Text(), value=bm.Json(SCHEMA))
    seen: list[Any] = []
    table = app.stream("in").group_by_key().agg(result=FORMS[form][0])
    table.to_stream().foreach(lambda key, value: seen.append(value))
    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_key_values([("k", value) for value in VALUES])
    return seen


@pytest.mark.parametrize("form", FORMS)
def test_short_form_leaves_nulls_out(form: str) -> None:
    _, expected = FORMS[form]

    assert seen_by_foreach(form) == [{"result": value} for value in expected]


@pytest.mark.parametrize("form", ["sum", "avg", "min", "max", "first", "last", "sum_of_decimals"])
def test_result_of_nulls_alone_is_null(form: str) -> None:
    app = bm.StreamsBuilder("agg", key=bm.Text(), value=bm.Json(SCHEMA))
    app.stream("in").group_by_key().agg(store="results", result=FORMS[form][0])

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_key_values([("k", {}), ("k", {"s": None})])

        assert driver.store("results").get("k") == {"result": None}


def test_sum_of_ints_does_not_overflow() -> None:
    app = bm.StreamsBuilder("agg", key=bm.Text(), value=bm.Int())
    app.stream("in").group_by_key().agg(total=bm.sum(lambda value: value)).to_stream().to("out")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_key_values([("k", 2**31 - 1)] * 3)

        assert driver.output_topic("out").read_values_to_list()[-1] == {"total": 3 * (2**31 - 1)}


def test_sum_that_overflows_is_a_failure_and_no_wrong_number() -> None:
    app = bm.StreamsBuilder("agg", key=bm.Text(), value=bm.Long())
    app.stream("in").group_by_key().agg(total=bm.sum(lambda value: value), store="totals")

    with TopologyTestDriver(app, on_error="continue") as driver:
        driver.input_topic("in").pipe_key_values([("k", 2**63 - 1), ("k", 1), ("k", -1)])

        assert driver.store("totals").get("k") == {"total": 2**63 - 2}
        assert len(driver.errors) == 1


def test_several_columns_come_in_the_order_they_were_given() -> None:
    app = bm.StreamsBuilder("agg", key=bm.Text(), value=bm.Json(SCHEMA))
    grouped = app.stream("in").group_by_key()
    grouped.agg(n=bm.count(), mean=bm.avg("x"), low=bm.min("y")).to_stream().to("out")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_input("k", VALUES[0])

        record = driver.output_topic("out", value=bm.Bytes()).read_record()
    assert record.value == b'{"n":1,"mean":3.0,"low":0.5}'


@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
def test_what_an_average_keeps_shows_in_no_store_and_no_output(store_type: Any) -> None:
    app = bm.StreamsBuilder("agg", key=bm.Text(), value=bm.Json(SCHEMA))
    table = app.stream("in").group_by_key().agg(store="stats", mean=bm.avg("x"), n=bm.count())
    table.filter(lambda v: v["mean"] > 2, store="high").to_stream().to("out")

    with TopologyTestDriver(app, store_type=store_type) as driver:
        driver.input_topic("in").pipe_key_values([("k", {"x": 2}), ("k", {"x": 3})])

        assert driver.store("stats").all() == [("k", {"mean": 2.5, "n": 2})]
        assert driver.store("high").all() == [("k", {"mean": 2.5, "n": 2})]
        assert driver.output_topic("out").read_values_to_list() == [{"mean": 2.5, "n": 2}]


def test_field_with_a_dollar_sign_is_a_field_like_any_other() -> None:
    app = bm.StreamsBuilder("agg", key=bm.Text(), value=bm.Json("`a$sum` int, `b$x` int, c int"))
    app.table("in", store="rows")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_input("k", {"a$sum": 1, "b$x": 2, "c": 3})

        assert driver.store("rows").get("k") == {"a$sum": 1, "b$x": 2, "c": 3}


def test_table_takes_replaced_and_deleted_rows_out_again() -> None:
    app = bm.StreamsBuilder("agg", key=bm.Text(), value=bm.Json("region string, x int"))
    regions = app.table("in").group_by(lambda key, value: (value.region, value))
    regions.agg(store="stats", n=bm.count(), total=bm.sum("x"), mean=bm.avg("x"))

    with TopologyTestDriver(app) as driver:
        feed = driver.input_topic("in")
        feed.pipe_input("a", {"region": "north", "x": 1})
        feed.pipe_input("b", {"region": "north", "x": 5})
        feed.pipe_input("c", {"region": "north", "x": None})
        assert driver.store("stats").get("north") == {"n": 3, "total": 6, "mean": 3.0}

        feed.pipe_input("b", {"region": "south", "x": 7})
        assert driver.store("stats").get("north") == {"n": 2, "total": 1, "mean": 1.0}
        assert driver.store("stats").get("south") == {"n": 1, "total": 7, "mean": 7.0}

        feed.pipe_input("a", None)
        assert driver.store("stats").get("north") == {"n": 1, "total": 0, "mean": None}


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown_field": (
        {"x": bm.sum("amout")},
        "sum('amout') of agg() names a field that is not there",
        "'amount'",
    ),
    "text": ({"x": bm.avg("item")}, "avg() of agg(), column 'x', needs a number, found string", "numeric"),
    "field_in_a_lambda": ({"x": bm.max(lambda v: v.itm)}, "uses the field 'itm'", "'item'"),
    "field_of_a_number": ({"x": bm.sum("amount.z")}, "Can't extract a value", "Fix"),
    "no_order": ({"x": bm.min(lambda v: F.create_map(v.item, v.n))}, "does not support ordering", "Fix"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_column_is_refused(case: str) -> None:
    columns, what, remedy = WRONG[case]

    fault = fault_of(lambda stream: stream.group_by_key().agg(**columns))

    assert what in fault.what
    assert remedy in fault.remedy
    assert __file__ in (fault.where or "")


def test_field_of_a_value_without_fields_is_refused() -> None:
    fault = fault_of(lambda stream: stream.map_values(lambda v: v.n).group_by_key().agg(x=bm.sum("n")))

    assert fault.what == "sum('n') of agg() names a field of int"
    assert fault.remedy == "Use a lambda of the value: sum(lambda value: value)"

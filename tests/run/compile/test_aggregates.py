"""Aggregates: what they start with, which type they keep, and what makes them go away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from tests.run.programs import fault_of

pytestmark = pytest.mark.usefixtures("spark")


@dataclass
class Stats:
    n: int
    total: float
    last: str | None


def results(
    build: Callable[[bm.KGroupedStream], bm.KTable],
    values: list[Any],
    *,
    serde: bm.Serde | None = None,
) -> list[Any]:
    """Return every result that an aggregate over these values of one key gives, as Python values."""
    app = bm.StreamsBuilder("fold", key=bm.Text(), value=serde or bm.Json("x int, y double, s string"))
    seen: list[Any] = []
    build(app.stream("in").group_by_key()).to_stream().foreach(lambda key, value: seen.append(value))
    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_key_values([("k", value) for value in values])
    return seen


INITIALS: dict[str, tuple[Any, Callable[..., Any], list[Any]]] = {
    "number": (0, lambda v, agg: agg + v.x, [1, 3]),
    "number_that_meets_doubles": (0, lambda v, agg: agg + v.y, [0.5, 2.0]),
    "number_that_meets_decimals": (
        0,
        lambda v, agg: agg + v.x.cast("decimal(5,2)"),
        [Decimal("1.00"), Decimal("3.00")],
    ),
    "text": ("", lambda v, agg: F.concat(agg, v.s), ["a", "ab"]),
    "null": (None, lambda v, agg: F.coalesce(agg, v.s), ["a", "a"]),
    "null_of_a_type": (lambda: F.lit(None).cast("int"), lambda v, agg: F.greatest(agg, v.x), [1, 2]),
    "empty_list": ([], lambda v, agg: F.array_append(agg, v.s), [["a"], ["a", "b"]]),
    "list": ([0], lambda v, agg: F.array_append(agg, v.x.cast("bigint")), [[0, 1], [0, 1, 2]]),
    "dict": (
        {"n": 0, "total": 0.0},
        lambda v, agg: F.struct((agg.n + 1).alias("n"), (agg.total + v.y).alias("total")),
        [{"n": 1, "total": 0.5}, {"n": 2, "total": 2.0}],
    ),
    "dict_of_null_and_list": (
        {"low": None, "all": []},
        lambda v, agg: {"low": F.least(agg.low, v.x), "all": F.array_append(agg["all"], v.x)},
        [{"low": 1, "all": [1]}, {"low": 1, "all": [1, 2]}],
    ),
    "dict_whose_number_widens": (
        {"total": 0},
        lambda v, agg: {"total": agg.total + v.y},
        [{"total": 0.5}, {"total": 2.0}],
    ),
    "dataclass": (
        Stats(0, 0.0, None),
        lambda v, agg: {"n": agg.n + 1, "total": agg.total + v.y, "last": v.s},
        [{"n": 1, "total": 0.5, "last": "a"}, {"n": 2, "total": 2.0, "last": "b"}],
    ),
    "nested_dict": (
        {"in": {"deep": None}},
        lambda v, agg: {"in": {"deep": v.s}},
        [{"in": {"deep": "a"}}, {"in": {"deep": "b"}}],
    ),
    "function": (
        lambda: F.struct(F.lit(5).alias("n")),
        lambda v, agg: {"n": agg.n + v.x},
        [{"n": 6}, {"n": 8}],
    ),
    "empty_map": (
        lambda: F.create_map().cast("map<string,int>"),
        lambda v, agg: F.map_concat(agg, F.create_map(v.s, v.x)),
        [{"a": 1}, {"a": 1, "b": 2}],
    ),
}


@pytest.mark.parametrize("initial", INITIALS)
def test_initial_value_and_step_find_their_type(initial: str) -> None:
    start, step, expected = INITIALS[initial]
    values = [{"x": 1, "y": 0.5, "s": "a"}, {"x": 2, "y": 1.5, "s": "b"}]

    assert results(lambda grouped: grouped.aggregate(start, step), values) == expected


FORMS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "aggregate": (lambda agg: agg + 1, [1, 2]),
    "value_and_aggregate": (lambda value, agg: agg + value, [5, 12]),
    "key_value_and_aggregate": (lambda key, value, agg: agg + value + F.length(key), [6, 14]),
}


@pytest.mark.parametrize("form", FORMS)
def test_step_receives_what_its_parameters_ask_for(form: str) -> None:
    step, expected = FORMS[form]

    assert results(lambda grouped: grouped.aggregate(0, step), [5, 7], serde=bm.Int()) == expected


TYPE_CHANGES: dict[str, tuple[Callable[[bm.KGroupedStream], object], str]] = {
    "number_to_text": (
        lambda g: g.aggregate(0, lambda v, agg: v.item),
        "starts as BIGINT, but the step returns STRING",
    ),
    "other_field": (
        lambda g: g.aggregate({"a": 0}, lambda v, agg: F.struct(agg.a.alias("b"))),
        "starts as STRUCT<a: BIGINT>, but the step returns STRUCT<b: BIGINT>",
    ),
    "more_fields": (
        lambda g: g.aggregate({"a": 0}, lambda v, agg: agg.withField("b", v.n)),
        "but the step returns STRUCT<a: BIGINT, b: INT>",
    ),
    "reduce": (lambda g: g.reduce(lambda agg, v: v.amount), "but the step returns DOUBLE"),
    "array_for_number": (lambda g: g.aggregate(0, lambda v, agg: v.tags), "returns ARRAY<STRING>"),
}


@pytest.mark.parametrize("case", TYPE_CHANGES)
def test_step_that_changes_the_type_is_refused(case: str) -> None:
    build, what = TYPE_CHANGES[case]

    fault = fault_of(lambda stream: build(stream.group_by_key()))

    assert "changes the type of the aggregate" in fault.what
    assert what in fault.what
    assert fault.remedy.startswith("Return the type of the initial value from the step")


@pytest.mark.parametrize("initial", [None, [], {"a": None}])
def test_aggregate_whose_type_nothing_tells_is_refused(initial: object) -> None:
    fault = fault_of(lambda stream: stream.group_by_key().aggregate(initial, lambda value, agg: agg))

    assert "does not determine the type of the aggregate" in fault.what
    assert "F.lit(None).cast('double')" in fault.remedy


def test_reduce_starts_with_the_first_value() -> None:
    def longest(grouped: bm.KGroupedStream) -> bm.KTable:
        return grouped.reduce(
            lambda agg, value: F.when(F.length(value) > F.length(agg), value).otherwise(agg)
        )

    assert results(longest, ["bb", "a", "ccc"], serde=bm.Text()) == ["bb", "bb", "ccc"]


def test_records_without_key_or_value_do_not_count() -> None:
    app = bm.StreamsBuilder("fold", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().count(store="counts", name="counter")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_key_values([("k", "v"), (None, "v"), ("k", None)])

        assert driver.store("counts").all() == [("k", 1)]
        assert driver.counters["counter"]["dropped"] == 2


@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
def test_null_result_deletes_the_row_and_the_next_value_starts_anew(store_type: Any) -> None:
    app = bm.StreamsBuilder("fold", key=bm.Text(), value=bm.Int())
    table = (
        app.stream("in")
        .group_by_key()
        .aggregate(100, lambda value, agg: F.when(value != 0, agg + value), store="sums")
    )
    table.to_stream().to("out", value=bm.Long())

    with TopologyTestDriver(app, store_type=store_type) as driver:
        driver.input_topic("in").pipe_key_values([("k", 1), ("k", 0)])
        assert driver.store("sums").all() == []
        driver.input_topic("in").pipe_input("k", 5)

        assert driver.output_topic("out").read_values_to_list() == [101, None, 105]
        assert driver.store("sums").all() == [("k", 105)]


def test_cogroup_folds_streams_of_different_types_into_one_table() -> None:
    app = bm.StreamsBuilder("shop", key=bm.Text())
    orders = app.stream("orders", value=bm.Json("cost double")).group_by_key()
    clicks = app.stream("clicks", value=bm.Long()).group_by_key()
    names = app.stream("names", value=bm.Text()).group_by_key()
    table = (
        orders.cogroup(lambda value, agg: agg.withField("spent", agg.spent + value.cost))
        .cogroup(clicks, lambda value, agg: agg.withField("clicks", agg.clicks + value))
        .cogroup(names, lambda value, agg: agg.withField("who", value))
        .aggregate({"spent": 0, "clicks": 0, "who": None}, store="people")
    )
    table.to_stream().to("out")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("orders").pipe_input("k", {"cost": 2.5})
        driver.input_topic("clicks").pipe_input("k", 3)
        driver.input_topic("names").pipe_input("k", "Ada")

        assert driver.output_topic("out").read_values_to_list() == [
            {"spent": 2.5, "clicks": 0, "who": None},
            {"spent": 2.5, "clicks": 3, "who": None},
            {"spent": 2.5, "clicks": 3, "who": "Ada"},
        ]
        assert driver.store("people").get("k") == {"spent": 2.5, "clicks": 3, "who": "Ada"}


def test_cogroup_whose_steps_disagree_is_refused() -> None:
    def build(stream: bm.KStream) -> None:
        grouped = stream.group_by_key()
        other = stream.map_values(lambda v: v.item).group_by_key()
        grouped.cogroup(lambda value, agg: agg + 1).cogroup(other, lambda value, agg: value).aggregate(0)

    fault = fault_of(build)

    assert "starts as BIGINT, but the step returns STRING" in fault.what
    assert "COGROUPKSTREAM-AGGREGATE-0000000004" in fault.what


def test_table_aggregate_takes_the_old_value_out_before_the_new_one_goes_in() -> None:
    app = bm.StreamsBuilder("fold", key=bm.Text(), value=bm.Json("group string, x int"))
    grouped = app.table("in").group_by(lambda key, value: (value.group, value.x))
    grouped.aggregate(
        [],
        lambda value, agg: F.array_append(agg, value),
        lambda value, agg: F.array_remove(agg, value),
        store="members",
    ).to_stream().to("out")
    grouped.reduce(lambda agg, value: agg + value, lambda agg, value: agg - value, store="sums")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_key_values(
            [
                ("a", {"group": "g", "x": 1}),
                ("b", {"group": "g", "x": 2}),
                ("a", {"group": "g", "x": 5}),
                ("b", {"group": "h", "x": 2}),
                ("a", None),
            ]
        )

        assert driver.output_topic("out").read_key_values_to_list() == [
            ("g", [1]),
            ("g", [1, 2]),
            ("g", [2, 5]),
            ("g", [5]),
            ("h", [2]),
            ("g", []),
        ]
        assert dict(driver.store("sums").all()) == {"g": 0, "h": 2}


def test_grouped_key_of_any_type_finds_its_task() -> None:
    app = bm.StreamsBuilder("fold", key=bm.Text(), value=bm.Json("day date, price decimal(5,2), n int"))
    stream = app.stream("in")
    stream.group_by(lambda v: v.day).count(store="days")
    stream.group_by(lambda v: F.struct(v.n, v.price)).count(store="pairs")
    stream.group_by(lambda v: v.price).count(store="prices")

    with TopologyTestDriver(app, partitions=3) as driver:
        for partition in (0, 1, 2):
            row = {"day": "2024-02-29", "price": 1.5, "n": 1}
            driver.input_topic("in").pipe_input("k", row, partition=partition)

        ((day, days),) = driver.store("days").all()
        assert (day.isoformat(), days) == ("2024-02-29", 3)
        assert driver.store("pairs").all() == [({"n": 1, "price": Decimal("1.50")}, 3)]
        assert driver.store("prices").get(Decimal("1.50")) == 3

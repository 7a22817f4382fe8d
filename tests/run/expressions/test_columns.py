"""A lambda says by its parameters what it receives, and may return Columns or plain Python values."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from tests.run.programs import fault_of, sales

pytestmark = pytest.mark.usefixtures("spark")


def result_of(function: Callable[..., Any]) -> Any:
    """Return what map_values gives for one sale at time 5, as a Python value."""
    app, stream = sales()
    seen: list[Any] = []
    stream.map_values(function).foreach(lambda key, value: seen.append(value))
    with TopologyTestDriver(app) as driver:
        driver.input_topic("sales").pipe_input("k", {"item": "tea", "n": 2, "tags": ["x"]}, timestamp=5)
    (value,) = seen
    return value


@dataclass
class Line:
    item: Column
    count: int


class Shop:
    def item(self, value: Column) -> Column:
        return value.item


FORMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "no_parameter": (lambda: F.lit("x"), "x"),
    "value": (lambda value: value.item, "tea"),
    "key_and_value": (lambda key, value: F.concat(key, value.item), "ktea"),
    "key_value_and_timestamp": (lambda key, value, timestamp: timestamp, 5),
    "names_do_not_matter": (lambda a, b: a, "k"),
    "any_number": (lambda *record: F.concat(record[0], record[1].item), "ktea"),
    "default": (lambda value, factor=3: value.n * factor, 6),
    "partial": (functools.partial(lambda value, factor: value.n * factor, factor=4), 8),
    "function_of_spark": (F.to_json, '{"item":"tea","n":2,"tags":["x"]}'),
    "method": (Shop().item, "tea"),
}


@pytest.mark.parametrize("form", FORMS)
def test_number_of_parameters_says_what_a_function_receives(form: str) -> None:
    function, expected = FORMS[form]

    assert result_of(function) == expected


VALUES: dict[str, tuple[Callable[..., Any], Any]] = {
    "number": (lambda v: 7, 7),
    "fraction": (lambda v: 0.5, 0.5),
    "text": (lambda v: "x", "x"),
    "truth": (lambda v: True, True),
    "decimal": (lambda v: Decimal("1.50"), Decimal("1.50")),
    "date": (lambda v: date(2024, 2, 29), date(2024, 2, 29)),
    "bytes": (lambda v: b"\x00\xff", b"\x00\xff"),
    "dict": (lambda v: {"item": v.item, "twice": {"n": v.n * 2}}, {"item": "tea", "twice": {"n": 4}}),
    "list": (lambda v: [v.n, v.n + 1], [2, 3]),
    "tuple": (lambda v: (v.n, 0), [2, 0]),
    "dataclass": (lambda v: Line(v.item, 3), {"item": "tea", "count": 3}),
}


@pytest.mark.parametrize("kind", VALUES)
def test_plain_python_values_become_columns(kind: str) -> None:
    function, expected = VALUES[kind]

    assert result_of(function) == expected


def test_whole_numbers_are_longs() -> None:
    app, stream = sales()
    stream.map_values(lambda v: 1).to("out", value=bm.Long())

    with TopologyTestDriver(app) as driver:
        driver.input_topic("sales").pipe_input({})

        assert driver.output_topic("out").read_value() == 1


@pytest.mark.parametrize(
    "predicate",
    [
        lambda v: v.n > 1 and v.amount > 1,
        lambda v: v.n > 1 or v.amount > 1,
        lambda v: not v.n,
        lambda v: v.n in (1, 2),
        lambda v: F.lit(True) if v.n > 1 else F.lit(False),
        lambda v: 1 < v.n < 3,
    ],
    ids=["and", "or", "not", "in", "if", "chain"],
)
def test_python_truth_of_a_column_is_refused(predicate: Callable[..., Any]) -> None:
    fault = fault_of(lambda stream: stream.filter(predicate))

    assert fault.what == "The predicate of filter uses a Column as a boolean, with and, or, not, in or if"
    assert fault.remedy.startswith("Use & for and, | for or, ~ for not")
    assert fault.where == f"{__file__}:{predicate.__code__.co_firstlineno}"


FAILING: dict[str, tuple[Callable[..., Any], str]] = {
    "python_error": (lambda v: 1 // 0, "ZeroDivisionError"),
    "length": (lambda v: len(v.tags), "has no len()"),
    "iteration": (lambda v: list(v.tags), "not iterable"),
    "text_of_a_column": (lambda v: f"{v.item}!", "a Column was turned into text"),
    "set": (lambda v: {1, 2}, "a set has no order"),
    "field_named_like_a_method": (lambda v: {"x": v.name}, "a field of this name is read as value['name']"),
    "any_object": (lambda v: object(), "cannot be a value of a Column"),
    "object_in_a_dict": (lambda v: {"x": [object()]}, "cannot be a value of a Column"),
    "unknown_function": (lambda v: F.uper(v.item), "has no attribute 'uper'"),  # type: ignore[attr-defined]
    "keyword_only": (lambda v, *, factor: v.n, "missing 1 required keyword-only argument"),
}


@pytest.mark.parametrize("case", FAILING)
def test_failing_function_is_refused_at_its_line(case: str) -> None:
    function, what = FAILING[case]

    fault = fault_of(lambda stream: stream.map_values(function))

    assert what in fault.what
    assert fault.where == f"{__file__}:{function.__code__.co_firstlineno}"


COUNTS: dict[str, tuple[Callable[[bm.KStream], object], str, str]] = {
    "map_values": (
        lambda s: s.map_values(lambda a, b, c, d: a),
        "The function of map_values takes 4 parameters",
        "(value) or (key, value) or (key, value, timestamp)",
    ),
    "reduce": (
        lambda s: s.group_by_key().reduce(lambda x: x),
        "The function of reduce takes 1 parameter",
        "(aggregate, value)",
    ),
    "aggregate": (
        lambda s: s.group_by_key().aggregate(0, lambda a, b, c, d: a),
        "The step of aggregate takes 4 parameters",
        "(value, aggregate) or (key, value, aggregate)",
    ),
    "initial": (
        lambda s: s.group_by_key().aggregate(lambda value: 0, lambda agg: agg),
        "The initial value of aggregate takes 1 parameter",
        "()",
    ),
    "short_form": (
        lambda s: s.group_by_key().agg(x=bm.sum(lambda key, value: value.n)),
        "The field of sum takes 2 parameters",
        "(value)",
    ),
}


@pytest.mark.parametrize("case", COUNTS)
def test_wrong_number_of_parameters_is_refused_with_the_forms_there_are(case: str) -> None:
    build, what, forms = COUNTS[case]

    fault = fault_of(build)

    assert fault.what == what
    assert forms in fault.remedy
    assert __file__ in (fault.where or "")


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda key, value: value, "found Column"),
        (lambda key, value: (key, value, value), "found a tuple of 3"),
        (lambda key, value: [key, value], "found list"),
        (lambda key, value: None, "found NoneType"),
    ],
)
def test_map_must_return_a_pair(function: Callable[..., Any], found: str) -> None:
    fault = fault_of(lambda stream: stream.map(function))

    assert fault.what == f"The function of map must return a key and a value, {found}"
    assert "(value.id, value)" in fault.remedy


def test_regrouping_of_a_table_must_return_a_pair() -> None:
    fault = fault_of(lambda stream: stream.to_table().group_by(lambda key, value: value.item).count())

    assert fault.what.startswith("The function of group_by must return a key and a value")


def test_key_that_is_not_a_value_is_refused() -> None:
    fault = fault_of(lambda stream: stream.map(lambda key, value: (object(), value)))

    assert "cannot be a value of a Column" in fault.what

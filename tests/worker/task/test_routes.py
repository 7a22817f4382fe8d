"""Records go from a function to the next one of the same stage as they would go over the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from brookmere.worker.functions.stream_functions import MapValuesWork, SelectKeyWork, UserFunction
from brookmere.worker.functions.table_functions import TableMapValuesWork
from brookmere.worker.protocol.stage_code import Child, NodeCode, StageCode, TypeCode
from brookmere.worker.types.annotations import resolved
from tests.worker.jvm import OUTSIDE, STRING, Fed, Jvm
from tests.worker.types.test_python_values import code, struct


@dataclass
class Point:
    x: int
    y: int | None = None


POINT = struct(x="integer", y="integer")


def mapped(call: Callable[..., Any]) -> MapValuesWork:
    return MapValuesWork(UserFunction(call, "mapper of map_values", "app.py:3"))


def followed(made: TypeCode, first: Callable[..., Any], *others: Callable[..., Any]) -> Jvm:
    """Return a stage of a function that makes values of a type, and others that all get them."""
    children = tuple(Child(f"child {n}", n, inside=True) for n, _ in enumerate(others, 1))
    behind = (Child("behind", OUTSIDE),)
    nodes = [
        NodeCode(n, f"child {n}", mapped(call), STRING, made, STRING, STRING, children=behind)
        for n, call in enumerate(others, 1)
    ]
    parent = NodeCode(0, "parent", mapped(first), STRING, STRING, STRING, made, children=children)
    return Jvm(StageCode(1, (parent, *nodes)))


@pytest.mark.parametrize(
    ("made", "returned", "seen"),
    [
        (code(POINT, made=resolved(Point)), {"x": 1}, "Point(x=1, y=None)"),
        (code(POINT), Point(1, 2), "{'x': 1, 'y': 2}"),
        (code(POINT), (1, 2), "{'x': 1, 'y': 2}"),
        (code("decimal(10,2)"), Decimal("1.255"), "Decimal('1.26')"),
        (code("float"), 0.1, "0.10000000149011612"),
        (code("float"), 1e39, "inf"),
    ],
)
def test_the_next_function_gets_what_the_declared_type_makes_of_a_value(
    made: TypeCode, returned: Any, seen: str
) -> None:
    jvm = followed(made, lambda value: returned, repr)

    assert jvm.batch(("k", "v")).values == [seen]


def test_a_value_that_does_not_fit_is_an_error_of_the_function_that_returned_it() -> None:
    jvm = followed(code("integer"), lambda value: value if value == "a" else 2, repr)

    answer = jvm.batch(("k", "a"), ("k", "b"))

    assert answer.values == ["2"]
    [(row, node, kind, message, *_)] = answer.errors
    assert (row, node, kind) == (0, 0, "TypeError")
    assert message.startswith("the value does not fit: expected an integer, found str 'a'")


def test_a_key_that_does_not_fit_is_an_error_of_the_function_that_returned_it() -> None:
    select = SelectKeyWork(UserFunction(lambda value: value, "selector of select_key", "app.py:3"))
    inside = (Child("child", 1, inside=True),)
    parent = NodeCode(0, "parent", select, STRING, STRING, code("long"), STRING, children=inside)
    child = NodeCode(1, "child", mapped(str.upper), code("long"), STRING, code("long"), STRING)

    answer = Jvm(StageCode(1, (parent, child))).batch(("k", "a"))

    assert [error[1:3] for error in answer.errors] == [(0, "TypeError")]


def test_what_a_function_changes_in_place_is_seen_by_no_other() -> None:
    def change(value: dict[str, Any]) -> str:
        value["x"] += 1
        return str(value["x"])

    jvm = followed(code(POINT), lambda value: {"x": 1}, change, change)

    assert jvm.batch(("k", "v")).values == ["2", "2"]


def test_rows_of_tables_are_handed_on_in_the_same_way() -> None:
    def table(call: Callable[..., Any]) -> TableMapValuesWork:
        return TableMapValuesWork(UserFunction(call, "mapper", "app.py:3"), send_old=True)

    def node(number: int, call: Callable[..., Any], *types: TypeCode, to: Child) -> NodeCode:
        return NodeCode(
            number, "", table(call), *types, is_table=True, sends_table=True, children=(to,)
        )  # fmt: skip

    parent = node(0, lambda v: {"x": len(v)}, STRING, STRING, STRING, code(POINT), to=Child("", 1, True))
    child = node(1, repr, STRING, code(POINT), STRING, STRING, to=Child("behind", OUTSIDE))

    answer = Jvm(StageCode(1, (parent, child))).batch(Fed("k", ("new", "older", True), 5))

    assert answer.values == [("{'x': 3, 'y': None}", "{'x': 5, 'y': None}")]

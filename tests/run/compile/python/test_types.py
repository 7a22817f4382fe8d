"""Types are told in many ways, and mean the same for Spark and for Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, LongType, StringType, StructType, _parse_datatype_json_string

import brookmere as bm
from brookmere.run.compile.python.types import as_key, returned, returned_element, returned_pair, typed
from brookmere.topology.function import here
from brookmere.topology.python_code import PythonFunction

pytestmark = pytest.mark.usefixtures("spark")


@dataclass
class Order:
    item: str
    count: int | None


def text(kind: Any) -> str:
    return _parse_datatype_json_string(kind.json).simpleString()


def serde_type(_serde: bm.Serde) -> DataType:
    return LongType()


def code(call: Any, returns: object = None, *, is_factory: bool = False) -> PythonFunction:
    return PythonFunction("function of map", here(), (), call, returns, is_factory=is_factory)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("string", "string"),
        ("a int, b string", "struct<a:int,b:string>"),
        ("array<double>", "array<double>"),
        (StringType(), "string"),
        (int, "bigint"),
        (float | None, "double"),
        (bytes, "binary"),
        (bool, "boolean"),
        (date, "date"),
        (datetime, "timestamp"),
        (Decimal, "decimal(38,18)"),
        (list[str], "array<string>"),
        (dict[str, list[int]], "map<string,array<bigint>>"),
        (Order, "struct<item:string,count:bigint>"),
        (list[Order], "array<struct<item:string,count:bigint>>"),
        (bm.Json(Order), "struct<item:string,count:bigint>"),
        (bm.Long(), "bigint"),
        (bm.Pickled(), "binary"),
        (bm.Pickled, "binary"),
    ],
)
def test_a_type_may_be_told_in_many_ways(spec: object, expected: str) -> None:
    assert text(typed(spec, "value", None, serde_type)) == expected


def test_dataclasses_and_pickled_objects_are_known_as_such() -> None:
    assert typed(Order, "value", None, serde_type).made is not None
    assert typed(bm.Json(Order), "value", None, serde_type).made is not None
    assert typed(list[str], "value", None, serde_type).made is None
    assert typed(bm.Pickled(), "value", None, serde_type).is_pickled


@pytest.mark.parametrize("spec", ["no type", set, tuple[int, str], 5, list])
def test_what_is_no_type_is_refused_with_those_there_are(spec: object) -> None:
    with pytest.raises(bm.errors.ExpressionError, match=r"value of process[\s\S]*a DDL string such as"):
        typed(spec, "value of process", here(), serde_type)


def test_annotations_tell_what_is_not_told() -> None:
    def one(value: str) -> int:
        return len(value)

    def many(value: str) -> Iterator[int]:
        yield len(value)

    def pair(key: str, value: str) -> tuple[str, int]:
        return key, len(value)

    def pairs(key: str, value: str) -> list[tuple[str, Order]]:
        return []

    class Model:
        def __call__(self, value: str) -> float:
            return 0.5

    assert text(returned(code(one), serde_type)) == "bigint"
    assert text(returned(code(one, "string"), serde_type)) == "string"
    assert text(returned_element(code(many), serde_type)) == "bigint"
    assert [text(k) for k in returned_pair(code(pair), serde_type, many=False)] == ["string", "bigint"]
    assert [text(k) for k in returned_pair(code(pairs), serde_type, many=True)] == [
        "string",
        "struct<item:string,count:bigint>",
    ]
    assert text(returned(code(Model, is_factory=True), serde_type)) == "double"
    assert text(returned(code(Model()), serde_type)) == "double"


def test_a_function_that_says_nothing_is_told_what_to_write() -> None:
    with pytest.raises(
        bm.errors.ExpressionError, match=r"does not say what it returns[\s\S]*returns=\"string\""
    ):
        returned(code(lambda value: value), serde_type)
    with pytest.raises(bm.errors.ExpressionError, match=r"the key and the value[\s\S]*tuple\[str, int\]"):
        returned_pair(code(lambda key, value: (key, value), "string"), serde_type, many=False)
    with pytest.raises(bm.errors.ExpressionError, match=r"several: found int[\s\S]*list\[str\]"):
        returned_element(code(len_of), serde_type)


def len_of(value: str) -> int:
    return len(value)


def test_a_key_with_its_window_is_known_by_its_fields(spark: SparkSession) -> None:
    window = StructType().add("key", "string").add("start", "long").add("end", "long")

    assert as_key(typed(window, "key", None, serde_type)).is_windowed
    assert not as_key(typed("key string, start bigint", "key", None, serde_type)).is_windowed

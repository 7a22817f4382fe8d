"""Checks JSON of Spark's types: the values that are read, what is refused, and the bytes of equal values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brookmere.serde import BadBytes
from brookmere.serde.json.json_schema import JsonSchema
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.registered import unframed


def struct(*fields: tuple[str, Any], nullable: bool = True) -> Any:
    members = [{"name": n, "type": t, "nullable": nullable, "metadata": {}} for n, t in fields]
    return {"type": "struct", "fields": members}


def typed(kind: Any, member: str | None = None) -> SparkJson:
    return SparkJson(json.dumps(kind), member)


MIXED = struct(
    ("id", "long"),
    ("name", "string"),
    ("price", "decimal(10,2)"),
    ("day", "date"),
    ("at", "timestamp"),
    ("raw", "binary"),
    ("tags", {"type": "array", "elementType": "integer", "containsNull": True}),
    ("by", {"type": "map", "keyType": "integer", "valueType": "double", "valueContainsNull": True}),
)
ROW = {
    "id": 1,
    "name": "é\x1f\\u001f",
    "price": Decimal("1.50"),
    "day": date(2024, 2, 29),
    "at": datetime(2024, 2, 29, 1, 2, 3, 4000, UTC),
    "raw": b"\xde\xad",
    "tags": [1, None],
    "by": {7: 1.5},
}


@dataclass
class Pair:
    b: str
    a: int


def test_values_of_all_types_return() -> None:
    assert typed(MIXED).deserialize(typed(MIXED).serialize(ROW)) == ROW


def test_null_is_null_both_ways() -> None:
    assert typed(MIXED).serialize(None) is None
    assert typed(MIXED).deserialize(None) is None


def test_equal_values_have_equal_bytes_whatever_the_order_of_their_parts() -> None:
    pair = typed(struct(("a", "integer"), ("b", "string")))

    assert pair.serialize({"b": "x", "a": 1}) == pair.serialize(Pair("x", 1)) == b'{"a":1,"b":"x"}'
    assert pair.serialize({"a": 1}) == b'{"a":1,"b":null}'


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("double", 1.0, "1.0"),
        ("double", 1e7, "1.0E7"),
        ("double", -1.25e-9, "-1.25E-9"),
        ("double", 9999999.5, "9999999.5"),
        ("double", 0.001, "0.001"),
        ("double", float("nan"), '"NaN"'),
        ("double", float("-inf"), '"-Infinity"'),
        ("float", 0.1, "0.1"),
        ("float", 1e38, "1.0E38"),
        ("decimal(38,18)", Decimal("1e-7"), "1.00000000000E-7"),
        ("decimal(10,2)", Decimal("1.005"), "1.01"),
        ("timestamp_ntz", datetime(2024, 1, 2, 3, 4, 5), '"2024-01-02T03:04:05.000"'),
    ],
)
def test_numbers_and_times_are_written_as_java_writes_them(kind: str, value: Any, text: str) -> None:
    assert typed(kind, "value").serialize(value) == f'{{"value":{text}}}'.encode()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_returns(value: float) -> None:
    serde = typed("double", "value")

    assert serde.deserialize(serde.serialize(value)) == value


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_every_float_returns(value: float) -> None:
    serde = typed("float", "value")

    assert serde.deserialize(serde.serialize(value)) == value


@pytest.mark.parametrize(
    ("kind", "data", "reason"),
    [
        (
            struct(("a", "integer")),
            b'{"a":"x"}',
            'a does not fit: expected a whole number of 4 bytes, found "x"',
        ),
        (struct(("a", "integer")), b'{"a":1.5}', "whole number"),
        (struct(("a", "integer")), b'{"a":2147483648}', "whole number"),
        (struct(("a", "boolean")), b'{"a":1}', "true or false"),
        (struct(("a", "double")), b'{"a":"x"}', "a number"),
        (struct(("a", "date")), b'{"a":"yesterday"}', "of a day"),
        (struct(("a", "timestamp")), b'{"a":1}', "of a time"),
        (struct(("a", "binary")), b'{"a":"?"}', "base64"),
        (struct(("a", "decimal(3,1)")), b'{"a":100.0}', "decimal"),
        (struct(("a", "long"), nullable=False), b"{}", "a is null or absent"),
        (struct(("a", struct(("b", "long")))), b'{"a":[]}', "an object"),
        (struct(("a", "long")), b"1", "an object or an array"),
        (struct(("a", "long")), b"{", "expected JSON"),
    ],
)
def test_bytes_of_another_type_are_refused(kind: Any, data: bytes, reason: str) -> None:
    with pytest.raises(BadBytes, match=reason.replace("(", r"\(")):
        typed(kind).deserialize(data)


def test_a_member_around_a_value_is_asked_for() -> None:
    with pytest.raises(BadBytes, match="an object with 'value'"):
        typed("date", "value").deserialize(b'{"other":1}')


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (struct(("a", "long")), {"a": "x"}, "value.a does not fit: expected an int, found str"),
        (struct(("a", "long")), {"b": 1}, "no field 'b'"),
        (struct(("a", "long")), 1, "a dict or a dataclass"),
        ({"type": "array", "elementType": "string", "containsNull": True}, "x", "a list"),
        (struct(("a", "string")), {"a": 1}, "text"),
        (struct(("a", "boolean")), {"a": 1}, "a bool"),
        (struct(("a", "date")), {"a": datetime(2024, 1, 1)}, "a date"),
    ],
)
def test_values_of_another_type_are_not_written(kind: Any, value: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        typed(kind).serialize(value)


def test_a_frame_stands_before_the_json() -> None:
    schema = JsonSchema("a bigint", registry="mock://typed").for_topic("t", is_key=True)
    assert isinstance(schema, JsonSchema)
    serde = SparkJson(json.dumps(struct(("a", "long"))), frame=schema)

    data = serde.serialize({"a": 1})

    assert unframed(data or b"")[1] == b'{"a":1}'
    assert serde.deserialize(data) == {"a": 1}

"""Checks JSON by a schema: what is written, what is read and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import ArrayType, LongType, StructType

from brookmere.errors import TopologyError
from brookmere.serde import BadBytes, Json

PLAIN = Json("a string")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@dataclass
class Trade:
    symbol: str
    ask: float | None = None


class Pair(NamedTuple):
    left: int
    right: int


@given(st.dictionaries(TEXTS, VALUES))
def test_every_object_returns(value: dict[str, Any]) -> None:
    assert PLAIN.deserialize(PLAIN.serialize(value)) == value


def test_null_is_null_both_ways() -> None:
    assert PLAIN.serialize(None) is None
    assert PLAIN.deserialize(None) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ({"a": 1, "b": [True, None], "c": {"d": "é"}}, '{"a":1,"b":[true,null],"c":{"d":"é"}}'),
        ({"t": (1, 2)}, '{"t":[1,2]}'),
        ({"f": 1.0, "g": 1e300}, '{"f":1.0,"g":1e+300}'),
        ({"n": float("nan"), "i": float("-inf")}, '{"n":"NaN","i":"-Infinity"}'),
        ({"d": Decimal("1.10"), "e": Decimal("1E+3")}, '{"d":1.10,"e":1000}'),
        ({"b": b"\x00\xff"}, '{"b":"AP8="}'),
        ({"d": date(2024, 2, 29)}, '{"d":"2024-02-29"}'),
        ({"t": datetime(2024, 1, 2, 3, 4, 5, 678999, UTC)}, '{"t":"2024-01-02T03:04:05.678Z"}'),
        ({"t": datetime(2024, 1, 2)}, '{"t":"2024-01-02T00:00:00.000Z"}'),
        (
            {"t": datetime(2024, 1, 2, 1, tzinfo=timezone(timedelta(hours=2)))},
            '{"t":"2024-01-01T23:00:00.000Z"}',
        ),
        ({"trade": Trade("A")}, '{"trade":{"symbol":"A","ask":null}}'),
        (Trade("A", 1.5), '{"symbol":"A","ask":1.5}'),
    ],
)
def test_values_are_written_as_spark_writes_them(value: Any, text: str) -> None:
    assert PLAIN.serialize(value) == text.encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "expected JSON, found an error at position 0: Expecting value"),
        (b'{"a":1', "expected JSON, found an error at position 6: Expecting ',' delimiter"),
        (b"{'a':1}", "Expecting property name enclosed in double quotes"),
        (b'{"a":1} x', "expected JSON, found an error at position 8: Extra data"),
        (b'{"a":NaN}', "expected JSON, found NaN, which is not a JSON number"),
        (b'{"a":"\xff"}', "expected UTF-8 text, found byte 0xff at position 6"),
        (b"[1]", "expected an object as JSON, found an array"),
        (b"null", "expected an object as JSON, found null"),
        (b'"x"', 'expected an object as JSON, found "x"'),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5000 + b"}", "expected JSON"),
    ],
    ids=lambda content: content[:20] if isinstance(content, bytes) else "",
)
def test_bad_bytes_are_refused_with_their_reason(data: bytes, reason: str) -> None:
    with pytest.raises(BadBytes) as caught:
        PLAIN.deserialize(data)

    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x", "Json writes a dict or a dataclass, found str 'x'"),
        ([1], "Json writes a dict or a dataclass, found list"),
        (Trade, "found type"),
        ({1: "x"}, "value has a field name that is not text: found int 1"),
        ({"a": {"b": [timedelta(1)]}}, "value.a.b[0] has no JSON form: found timedelta"),
        ({"p": Pair(1, 2)}, "value.p has no JSON form: found Pair"),
    ],
)
def test_a_value_without_a_json_form_is_refused_by_its_path(value: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        PLAIN.serialize(value)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": Decimal("NaN")}, "value.a is not a decimal of 38 digits"),
        ({"a": Decimal("1E+40")}, "value.a is not a decimal of 38 digits"),
        ({"a": "\ud800"}, "half a surrogate pair"),
    ],
)
def test_a_value_out_of_range_is_refused(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PLAIN.serialize(value)


def test_an_array_schema_takes_lists_only() -> None:
    for serde in (Json("array<bigint>"), Json("ARRAY <bigint>"), Json(ArrayType(LongType()))):
        assert serde.deserialize(serde.serialize([1, 2])) == [1, 2]
        with pytest.raises(TypeError, match="Json of an array writes a list, found dict"):
            serde.serialize({})
        with pytest.raises(BadBytes, match="expected an array as JSON, found an object"):
            serde.deserialize(b"{}")


def test_a_ddl_string_is_kept_for_spark() -> None:
    serde = Json("  symbol string, ask double ")

    assert serde.ddl == "symbol string, ask double"
    assert serde.schema_json() is None
    assert serde == Json("symbol string, ask double")
    assert hash(serde) == hash(Json("symbol string, ask double"))
    assert serde != Json("symbol string")


def test_a_spark_schema_is_kept_in_its_json_form() -> None:
    schema = StructType().add("n", LongType(), nullable=False)

    serde = Json(schema)

    assert serde.ddl is None
    assert serde.schema_json() == schema.json()
    assert serde == Json(StructType().add("n", LongType(), nullable=False))


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ("", "an empty string"),
        (" \n", "an empty string"),
        (5, "int"),
        (None, "NoneType"),
        (dict, "the class dict"),
        (StructType, "the class StructType"),
        (Trade("A"), "Trade"),
    ],
)
def test_what_is_no_schema_is_refused_with_a_remedy(schema: Any, found: str) -> None:
    with pytest.raises(TopologyError) as caught:
        Json(schema)

    assert str(caught.value) == (
        f"Json has no schema: found {found}. "
        'Give a DDL string such as Json("id bigint, name string"), a StructType or a dataclass.'
    )

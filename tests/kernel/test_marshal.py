"""Values between Python's marshal and Spark's packed rows, for every type, in both directions."""

from __future__ import annotations

import marshal
import math
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql.types import DataType, _parse_datatype_string

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PERSON = "struct<name: string, age: int, tags: array<string>, home: struct<zip: int, at: timestamp>>"

VALUES: list[tuple[str, list[Any]]] = [
    ("boolean", [True, False, None]),
    ("tinyint", [-128, 0, 127]),
    ("smallint", [-32768, 32767]),
    ("int", [-(2**31), -1, 0, 1, 2**31 - 1, None]),
    ("bigint", [-(2**63), -(2**31) - 1, -(2**60), 2**45 + 3, 2**62, 2**63 - 1]),
    ("float", [0.5, -2.25, math.inf]),
    ("double", [0.1, -0.0, 1e300, -math.inf]),
    ("string", ["", "a", "seven..", "eight...", "Straße 7 日本 🙂", "x" * 1000, None]),
    ("binary", [b"", b"\x00\xff", b"12345678", None]),
    ("date", [0, -141427, 19782]),
    ("timestamp", [-1, 1_709_210_096_789_012]),
    ("timestamp_ntz", [0, -62_135_596_800_000_000]),
    ("decimal(10,2)", ["12.34", "-99999999.99", "0.00"]),
    ("decimal(38,6)", ["12345678901234567890123456789012.123456", "-1.000000", "0.000000", None]),
    ("array<int>", [[], [1, None, -3], list(range(100)), None]),
    ("array<string>", [["b", None, ""], [None]]),
    ("array<boolean>", [[True, None, False]]),
    ("array<array<double>>", [[[1.5], [], None]]),
    ("array<decimal(38,2)>", [["1.00", None]]),
    ("map<string,int>", [{}, {"x": 1, "y": None}]),
    ("map<int,array<string>>", [{1: ["a"], 2: []}]),
    ("map<struct<a: int>,string>", [[({"a": 1}, "one"), ({"a": None}, None)]]),
    ("struct<a: int, big: decimal(30,3)>", [{"a": None, "big": None}, {"a": 1, "big": "2.500"}, None]),
    (
        PERSON,
        [
            {"name": "n", "age": 7, "tags": ["x", None], "home": {"zip": 1, "at": 5}},
            {"name": None, "age": None, "tags": None, "home": None},
        ],
    ),
    ("array<struct<id: int, price: double>>", [[{"id": 2, "price": 9.5}, None, {"id": 1, "price": None}]]),
    ("struct<key: string, start: bigint, end: bigint>", [{"key": "k", "start": 0, "end": 60_000}]),
    (
        f"struct<{', '.join(f'f{i}: int' for i in range(70))}>",
        [{f"f{i}": i if i % 3 else None for i in range(70)}],
    ),
]


@pytest.fixture
def codec(spark: SparkSession) -> Any:
    def make(ddl: str) -> Any:
        assert spark._jvm is not None
        return spark._jvm.brookmere.kernel.python.marshal.Codec(_type(spark, ddl).json())

    return make


def _type(spark: SparkSession, ddl: str) -> DataType:
    return _parse_datatype_string(ddl)


@pytest.mark.parametrize(("ddl", "values"), VALUES, ids=[ddl[:40] for ddl, _ in VALUES])
def test_value_comes_back_as_it_was(codec: Any, ddl: str, values: list[Any]) -> None:
    values_of = codec(ddl)

    for value in values:
        packed = values_of.pack(marshal.dumps(value, 2))

        assert repr(marshal.loads(values_of.unpack(packed))) == repr(value)
        assert packed is None or values_of.isAsSparkPacks(packed)


def test_struct_is_taken_by_names_in_any_order_or_by_places(codec: Any) -> None:
    people = codec(PERSON)
    home = {"zip": 1, "at": 5}
    expected = people.pack(marshal.dumps({"name": "n", "age": 7, "tags": ["x"], "home": home}, 2))

    shuffled = people.pack(
        marshal.dumps({"home": {"at": 5, "zip": 1}, "tags": ["x"], "name": "n", "age": 7}, 2)
    )
    placed = people.pack(marshal.dumps(("n", 7, ("x",), [1, 5]), 2))

    assert shuffled == expected
    assert placed == expected


def test_missing_field_is_null(codec: Any) -> None:
    people = codec(PERSON)

    packed = people.pack(marshal.dumps({"age": 7}, 2))

    assert marshal.loads(people.unpack(packed)) == {"name": None, "age": 7, "tags": None, "home": None}
    assert people.isAsSparkPacks(packed)


def test_int_is_taken_for_a_double(codec: Any) -> None:
    assert marshal.loads(codec("double").unpack(codec("double").pack(marshal.dumps(2**60, 2)))) == float(
        2**60
    )


def test_decimal_is_rounded_to_its_scale(codec: Any) -> None:
    values_of = codec("decimal(10,2)")

    assert marshal.loads(values_of.unpack(values_of.pack(marshal.dumps("1.005", 2)))) == "1.01"
    assert marshal.loads(values_of.unpack(values_of.pack(marshal.dumps(3, 2)))) == "3.00"


@pytest.mark.parametrize(
    ("ddl", "value", "words"),
    [
        ("int", 1.5, "found the float 1.5 where the declared type is INT"),
        ("int", True, "found the bool True where the declared type is INT"),
        ("int", 2**31, "found the int 2147483648 where the declared type is INT"),
        ("bigint", 2**63, "found the int 9223372036854775808 where the declared type is BIGINT"),
        ("tinyint", 128, "found the int 128 where the declared type is TINYINT"),
        ("double", "1", "found the str '1' where the declared type is DOUBLE"),
        ("double", 10**400, "where the declared type is DOUBLE"),
        ("string", 1, "found the int 1 where the declared type is STRING"),
        ("string", "\ud800", "half of a surrogate pair"),
        ("binary", "a", "found the str 'a' where the declared type is BINARY"),
        ("boolean", 1, "found the int 1 where the declared type is BOOLEAN"),
        ("decimal(4,2)", "123.45", "found the str '123.45' where the declared type is DECIMAL(4,2)"),
        ("decimal(4,2)", "many", "found the str 'many'"),
        ("array<int>", [1, "2"], "found the str '2' where the declared type is INT (field [1])"),
        ("array<int>", 1, "found the int 1 where the declared type is ARRAY<INT>"),
        ("map<string,int>", {"a": "b"}, "found the str 'b' where the declared type is INT (field (value))"),
        ("map<string,int>", {None: 1}, "a key that is None"),
        ("map<string,int>", {1, 2}, "found a set"),
        (
            PERSON,
            {"name": "n", "home": {"zip": "x"}},
            "found the str 'x' where the declared type is INT (field home.zip)",
        ),
        (PERSON, {"nmae": "n"}, "unknown field 'nmae' (is it 'name'?)"),
        (PERSON, {"age": 1, "nmae": "n"}, "unknown field 'nmae' (is it 'name'?)"),
        (PERSON, {1: "n"}, "a dict with the key the int 1"),
        (PERSON, ("n",), "found a tuple of 1"),
        (PERSON, "n", "found the str 'n'"),
    ],
)
def test_value_of_another_type_is_refused_and_named(codec: Any, ddl: str, value: Any, words: str) -> None:
    values_of = codec(ddl)

    with pytest.raises(Py4JJavaError) as refused:
        values_of.pack(marshal.dumps(value, 2))

    assert words in refused.value.java_exception.getMessage()


@pytest.mark.parametrize("ddl", ["interval day to second", "array<interval month>", "variant"])
def test_type_that_python_has_no_value_for_is_refused(codec: Any, ddl: str) -> None:
    with pytest.raises(Py4JJavaError) as refused:
        codec(ddl)

    assert refused.value.java_exception.getMessage().startswith("python-type|")

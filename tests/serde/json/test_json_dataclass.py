"""Checks JSON by a dataclass: its schema for Spark, its instances and what has no place in it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, ClassVar, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import StructType

from brookmere.errors import TopologyError
from brookmere.serde import BadBytes, Json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
LONGS = st.integers(-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Line:
    article: str
    count: int


@dataclass(frozen=True)
class Order:
    number: int
    customer: str
    paid: bool
    weight: float
    total: Decimal
    placed: datetime
    due: date
    seal: bytes
    lines: list[Line]
    notes: dict[str, str | None]
    first: Line | None
    grid: list[list[int]]
    nick: Optional[str] = None  # noqa: UP045 - both ways to write it are read
    version: ClassVar[int] = 1


@dataclass
class Node:
    name: str
    next: Node | None


@dataclass
class Odd:
    either: int | str
    whatever: Any
    counts: dict[int, str]
    bare: list  # type: ignore[type-arg]
    many: tuple[int, ...]
    fine: int
    derived: int = field(init=False, default=0)


@dataclass
class Outer:
    inner: Odd


@dataclass
class Empty:
    pass


@dataclass
class Positive:
    number: int

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError("number must be positive")


# Spark writes milliseconds, so a finer time would not return.
MOMENTS = st.datetimes(timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
LINES = st.builds(Line, TEXTS, LONGS)
ORDERS = st.builds(
    Order,
    number=LONGS,
    customer=TEXTS,
    paid=st.booleans(),
    weight=st.floats(allow_nan=False),
    total=st.decimals(-(10**19), 10**19, places=18),
    placed=MOMENTS,
    due=st.dates(),
    seal=st.binary(),
    lines=st.lists(LINES),
    notes=st.dictionaries(TEXTS, st.none() | TEXTS),
    first=st.none() | LINES,
    grid=st.lists(st.lists(LONGS)),
    nick=st.none() | TEXTS,
)


@given(ORDERS)
def test_every_instance_returns(order: Order) -> None:
    serde = Json(Order)

    assert serde.deserialize(serde.serialize(order)) == order


def test_the_schema_is_the_one_that_spark_reads() -> None:
    schema_json = Json(Order).schema_json()

    assert schema_json is not None
    assert StructType.fromJson(json.loads(schema_json)).simpleString() == (
        "struct<number:bigint,customer:string,paid:boolean,weight:double,total:decimal(38,18),"
        "placed:timestamp,due:date,seal:binary,lines:array<struct<article:string,count:bigint>>,"
        "notes:map<string,string>,first:struct<article:string,count:bigint>,grid:array<array<bigint>>,"
        "nick:string>"
    )


def test_every_part_of_the_schema_may_be_null() -> None:
    assert Json(Line).schema_json() == (
        '{"type":"struct","fields":['
        '{"name":"article","type":"string","nullable":true,"metadata":{}},'
        '{"name":"count","type":"long","nullable":true,"metadata":{}}]}'
    )
    assert Json(Line).ddl is None


def test_serdes_of_one_dataclass_are_equal() -> None:
    assert Json(Line) == Json(Line)
    assert hash(Json(Line)) == hash(Json(Line))
    assert Json(Line) != Json(Order)
    assert Json(Line) != Json("article string, count bigint")


def test_a_dict_of_the_same_shape_is_written_too() -> None:
    assert Json(Line).serialize({"article": "nut", "count": 2}) == b'{"article":"nut","count":2}'


def test_unknown_fields_are_left_out_as_spark_does() -> None:
    assert Json(Line).deserialize(b'{"article":"nut","count":2,"color":"red"}') == Line("nut", 2)


def test_an_absent_field_is_a_null() -> None:
    @dataclass
    class Loose:
        a: int | None
        b: int | None = 7

    assert Json(Loose).deserialize(b"{}") == Loose(None, None)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-01-02T03:04:05.678Z", datetime(2024, 1, 2, 3, 4, 5, 678000, UTC)),
        ("2024-01-02T03:04:05+02:00", datetime(2024, 1, 2, 1, 4, 5, 0, UTC)),
        ("2024-01-02 03:04:05", datetime(2024, 1, 2, 3, 4, 5, 0, UTC)),
    ],
)
def test_times_are_read_as_utc(text: str, moment: datetime) -> None:
    @dataclass
    class Tick:
        at: datetime

    assert Json(Tick).deserialize(json.dumps({"at": text}).encode()) == Tick(moment)


def test_a_double_that_json_has_no_number_for_is_read_from_text() -> None:
    @dataclass
    class Level:
        height: float

    assert Json(Level).deserialize(b'{"height":"-Infinity"}') == Level(float("-inf"))
    assert Json(Level).deserialize(b'{"height":3}') == Level(3.0)


@pytest.mark.parametrize(
    ("name", "found", "reason"),
    [
        ("number", '"1"', 'Order.number does not fit: expected a whole number of 8 bytes, found "1"'),
        ("number", "1.0", "Order.number does not fit: expected a whole number of 8 bytes, found 1.0"),
        ("number", str(2**63), "expected a whole number of 8 bytes, found 9223372036854775808"),
        ("number", "true", "found true"),
        ("number", "null", "Order.number is null or absent; declare it | None if it may be"),
        ("customer", "1", "Order.customer does not fit: expected text, found 1"),
        ("paid", "0", "Order.paid does not fit: expected true or false, found 0"),
        ("weight", '"heavy"', 'Order.weight does not fit: expected a number, found "heavy"'),
        ("weight", "9" * 400, "Order.weight does not fit: expected a double"),
        (
            "total",
            "1e30",
            "Order.total does not fit: expected a number that fits decimal(38,18), found 1E+30",
        ),
        ("placed", '"yesterday"', "Order.placed does not fit: expected ISO-8601 text of a time"),
        ("placed", '"0001-01-01T00:00:00+14:00"', "Order.placed does not fit"),
        ("due", '"20240101"', "Order.due does not fit: expected ISO-8601 text of a day"),
        ("seal", '"*"', "Order.seal does not fit: expected base64 text"),
        ("lines", "{}", "Order.lines does not fit: expected an array, found an object"),
        ("lines", '[{"article":"nut","count":{}}]', "Order.lines[0].count does not fit"),
        ("notes", "[]", "Order.notes does not fit: expected an object, found an array"),
        ("notes", '{"a":1}', "Order.notes.a does not fit: expected text, found 1"),
        ("first", "[]", "Order.first does not fit: expected an object, found an array"),
        ("grid", "[[null]]", "Order.grid[0][0] is null or absent"),
    ],
)
def test_a_field_that_does_not_fit_is_refused_by_its_path(name: str, found: str, reason: str) -> None:
    good = {
        "number": "1",
        "customer": '"c"',
        "paid": "true",
        "weight": "1.5",
        "total": "1.5",
        "placed": '"2024-01-02T03:04:05.000Z"',
        "due": '"2024-01-02"',
        "seal": '""',
        "lines": "[]",
        "notes": "{}",
        "grid": "[]",
    }
    text = ",".join(f'"{key}":{value}' for key, value in (good | {name: found}).items())

    with pytest.raises(BadBytes) as caught:
        Json(Order).deserialize(f"{{{text}}}".encode())

    assert reason in str(caught.value)


def test_a_value_that_the_dataclass_refuses_is_a_bad_record() -> None:
    with pytest.raises(BadBytes, match="Positive was refused by Positive: number must be positive"):
        Json(Positive).deserialize(b'{"number":0}')


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Node("a", None), "Line does not fit: expected a Line or a dict, found Node"),
        (Line(5, 1), "Line.article does not fit: expected str, found int"),  # type: ignore[arg-type]
        (Line("a", True), "Line.count does not fit: expected int, found bool"),
        ({"article": "a"}, "Line.count is None or absent; give it a value, or declare it | None"),
    ],
)
def test_an_instance_with_a_wrong_field_is_not_written(value: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        Json(Line).serialize(value)

    assert words in str(caught.value)


def test_numbers_that_spark_would_change_are_not_written() -> None:
    @dataclass
    class Amount:
        value: Decimal | None = None
        count: int = 0

    with pytest.raises(ValueError, match=r"Amount.count does not fit 8 bytes"):
        Json(Amount).serialize(Amount(count=2**63))
    with pytest.raises(ValueError, match=r"Amount.value does not fit decimal\(38,18\)"):
        Json(Amount).serialize(Amount(Decimal("1E-19")))
    with pytest.raises(ValueError, match=r"Amount.value does not fit decimal\(38,18\)"):
        Json(Amount).serialize(Amount(Decimal("1E+20")))
    assert Json(Amount).serialize(Amount(Decimal("1.0000000000000000000"))) is not None


def test_fields_without_a_spark_type_are_refused_all_at_once() -> None:
    with pytest.raises(TopologyError) as caught:
        Json(Outer)

    faults = caught.value.faults
    assert [fault.what for fault in faults] == [
        "Field 'either' of Odd cannot be read from JSON: found int | str",
        "Field 'whatever' of Odd cannot be read from JSON: found Any",
        "Field 'counts' of Odd cannot be read from JSON: found dict[int, str]",
        "Field 'bare' of Odd cannot be read from JSON: found list",
        "Field 'many' of Odd cannot be read from JSON: found tuple[int, ...]",
        "Field 'derived' of Odd cannot be read from JSON: it is init=False",
    ]
    assert all(
        fault.where is not None and fault.where.endswith("test_json_dataclass.Odd") for fault in faults
    )
    assert "list[T], dict[str, T]" in faults[0].remedy


def test_a_dataclass_inside_itself_is_refused() -> None:
    with pytest.raises(TopologyError, match="Field 'next' of Node cannot be read from JSON"):
        Json(Node)


def test_a_dataclass_without_fields_is_refused() -> None:
    with pytest.raises(TopologyError, match="Empty has no fields"):
        Json(Empty)


def test_annotations_that_name_nothing_are_refused() -> None:
    @dataclass
    class Lost:
        other: Missing  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TopologyError, match="The annotations of Lost cannot be resolved: name 'Missing'"):
        Json(Lost)

"""Avro in Python: schemas in all their forms, values as they are written and read, and what is refused."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql.types import LongType, StructType

from brookmere.errors import TopologyError
from brookmere.serde import BadBytes
from brookmere.serde.avro.avro import Avro

PAIR = {"type": "record", "name": "Pair", "namespace": "n", "fields": [{"name": "a", "type": "int"}]}


@dataclass
class Line:
    item: str
    count: int = 1


@dataclass
class Order:
    id: int
    at: datetime
    day: date
    price: Decimal
    raw: bytes
    lines: list[Line]
    first: Line
    by_name: dict[str, Line]
    note: str | None = None


ORDER = Order(
    1, datetime(2024, 1, 1, tzinfo=UTC), date(2024, 2, 29), Decimal("1.50"), b"\0", [Line("a")], Line("b", 2),
    {"c": Line("c")},
)  # fmt: skip


def test_a_schema_may_be_text_a_dict_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "pair.avsc"
    file.write_text(json.dumps(PAIR, indent=2))

    serdes = [Avro(PAIR), Avro(json.dumps(PAIR)), Avro(file)]

    assert len(set(serdes)) == 1
    assert [serde.serialize({"a": 1}) for serde in serdes] == [b"\x02"] * 3
    assert {serde.record_name for serde in serdes} == {"n.Pair"}


def test_a_dataclass_gives_a_schema_and_comes_back() -> None:
    serde = Avro(Order)

    data = serde.serialize(ORDER)

    assert data is not None
    assert serde.deserialize(data) == ORDER
    assert serde.record_name == "Order"
    plain = fastavro.schemaless_reader(io.BytesIO(data), json.loads(serde.text or ""), None)
    assert isinstance(plain, dict)
    assert (plain["first"], plain["note"]) == ({"item": "b", "count": 2}, None)


def test_fields_of_ddl_may_be_null_unless_it_says_otherwise() -> None:
    serde = Avro(
        "id bigint not null, `ab` array<int>, m map<string, struct<x: decimal(5,2)>>", name="shop.Item"
    )

    schema = json.loads(serde.text or "")

    assert (schema["namespace"], schema["name"]) == ("shop", "Item")
    assert schema["fields"][0] == {"name": "id", "type": "long"}
    assert schema["fields"][1]["type"] == ["null", {"type": "array", "items": ["null", "int"]}]


def test_names_that_avro_does_not_allow_are_refused() -> None:
    with pytest.raises(TopologyError, match="not a name that Avro allows"):
        Avro("id bigint", name="a b")


def test_a_struct_type_gives_a_schema() -> None:
    assert Avro(StructType().add("id", LongType(), False)) == Avro("id bigint not null")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ('{"type": "record"', "it is not JSON"),
        ('{"type": "record", "name": "R"}', "cannot be used"),
        (
            {"type": "record", "name": "R", "fields": [{"name": "r", "type": ["null", "R"]}]},
            "value.r is a R inside",
        ),
        ('{"type": "bytes", "logicalType": "decimal", "precision": 40}', "decimal of 40 digits"),
        ("id bigin", "expected a type, found 'bigin'"),
        ("id bigint,", "expected the name of a field"),
        ("id bigint) x", "found '\\)' after the last field"),
        ("m map<int, int>", "keys that are not text"),
        (3, "found int"),
        (dict, "found dict"),
        (Path("/does/not/exist"), "cannot be read"),
    ],
)
def test_what_is_no_schema_is_refused(schema: Any, words: str) -> None:
    with pytest.raises(TopologyError, match=words):
        Avro(schema)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": "x"}, "Pair.a|n.Pair.a"),
        ({}, "does not fit the Avro schema"),
        ("x", "does not fit"),
        ({"a": 2**40}, "a"),
    ],
)
def test_values_that_do_not_fit_are_not_written(value: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        Avro(PAIR).serialize(value)


@pytest.mark.parametrize("data", [b"", b"\xff", b"\x02\x00"])
def test_wrong_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(BadBytes):
        Avro(PAIR).deserialize(data)


def test_a_null_stays_a_null() -> None:
    assert Avro(PAIR).serialize(None) is None
    assert Avro(PAIR).deserialize(None) is None

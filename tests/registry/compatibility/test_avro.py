"""The rules of Avro's schema resolution, one by one, with the reasons people read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brookmere.registry.compatibility.avro import avro_differences
from brookmere.registry.schemas.avro import parse_avro


def record(*fields: Any, name: str = "R", **others: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **others}


def field(name: str, type: Any, **others: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **others}


def enum(*symbols: str, name: str = "E", **others: Any) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": list(symbols), **others}


def fixed(size: int, name: str = "F", **others: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size, **others}


def decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


TREE = record(field("next", ["null", "R"]), field("value", "int"))


def differences(reader: Any, writer: Any) -> list[str]:
    return avro_differences(parse_avro(json.dumps(reader)), parse_avro(json.dumps(writer)))


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ("long", "int"),
        ("float", "int"),
        ("double", "int"),
        ("float", "long"),
        ("double", "long"),
        ("double", "float"),
        ("bytes", "string"),
        ("string", "bytes"),
        ({"type": "int", "logicalType": "date"}, "int"),
        ({"type": "array", "items": "long"}, {"type": "array", "items": "int"}),
        ({"type": "map", "values": "double"}, {"type": "map", "values": "float"}),
        (["null", "int"], "int"),
        (["null", "int"], ["int", "null"]),
        ("long", ["int", "long"]),
        (["string", "double"], ["int", "float"]),
        (enum("A", "B"), enum("A")),
        (enum("A", default="A"), enum("A", "B")),
        (enum("A", name="a.E"), enum("A", name="b.E")),
        (enum("A", name="New", aliases=["E"]), enum("A")),
        (fixed(4), fixed(4)),
        (record(), record(field("gone", "int"))),
        (record(field("new", "int", default=0)), record()),
        (record(field("b", "int"), field("a", "int")), record(field("a", "int"), field("b", "int"))),
        (record(field("b", "int", aliases=["a"])), record(field("a", "int"))),
        (record(name="x.R"), record(name="y.R")),
        (record(name="New", namespace="n", aliases=["Old"]), record(name="Old", namespace="n")),
        (TREE, TREE),
        (record(field("next", ["null", "R"]), field("value", "long")), TREE),
        (decimal(4, 2), decimal(4, 2)),
    ],
    ids=json.dumps,
)
def test_it_can_be_read(reader: Any, writer: Any) -> None:
    assert differences(reader, writer) == []


@pytest.mark.parametrize(
    ("reader", "writer", "reason"),
    [
        ("int", "long", "long cannot be read as int"),
        ("float", "double", "double cannot be read as float"),
        ("string", "int", "int cannot be read as string"),
        ("int", ["null", "int"], "null cannot be read as int"),
        (["null", "string"], "int", "int is not in the union of null, string"),
        (["null", "string"], ["null", "int"], "int is not in the union of null, string"),
        (
            {"type": "array", "items": "int"},
            {"type": "array", "items": "string"},
            "array of string cannot be read as array of int",
        ),
        (enum("A"), enum("A", "B", "C"), "enum E has no B, C and no default for unknown symbols"),
        (enum("A", name="Other"), enum("A"), "enum E cannot be read as enum Other"),
        (fixed(4), fixed(8), "fixed F cannot be read as fixed F"),
        (record(field("new", "int")), record(), "R.new: the field has no default and is not in the data"),
        (record(name="B"), record(name="A"), "record A cannot be read as record B"),
        (
            record(name="New", namespace="n", aliases=["Old"]),
            record(name="Old", namespace="m"),
            "record m.Old cannot be read as record n.New",
        ),
        (
            record(field("a", {"type": "map", "values": {"type": "array", "items": enum("A")}})),
            record(field("a", {"type": "map", "values": {"type": "array", "items": enum("B")}})),
            "R.a{}[]: enum E has no B and no default for unknown symbols",
        ),
        (
            record(field("next", ["null", "R"]), field("value", "string")),
            TREE,
            "R.value: int cannot be read as string",
        ),
        (
            record(field("in", record(field("b", "int"), name="I"))),
            record(field("in", record(name="I"))),
            "R.in.b: the field has no default and is not in the data",
        ),
        (decimal(4, 2), decimal(4, 3), "decimals of a different precision or scale cannot be read"),
        (
            record(field("a", "int", aliases=["b"])),
            record(field("a", "int"), field("b", "int")),
            "R.a: its aliases match several fields, which is ambiguous",
        ),
    ],
    ids=json.dumps,
)
def test_it_cannot_be_read_and_the_reason_names_the_part(reader: Any, writer: Any, reason: str) -> None:
    assert differences(reader, writer) == [reason]


def test_all_reasons_are_given() -> None:
    reader = record(field("a", "int"), field("b", "int"), field("c", "int"))

    assert len(differences(reader, record(field("a", "string")))) == 3

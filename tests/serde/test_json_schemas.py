"""Serdes are described as JSON Schemas, as far as they know their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from brookmere.serde import Bool, Bytes, Custom, Int, Json, Long, Serde, Text
from brookmere.serde.avro.avro import Avro
from brookmere.serde.json.json_schema import JsonSchema
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.json.value_schemas import ANY
from brookmere.serde.protobuf.protobuf import Protobuf

LONG = {"type": "integer", "format": "int64"}
TEXT = {"type": "string"}


def maybe(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


@dataclass
class Trade:
    symbol: str
    lots: list[int]


@pytest.mark.parametrize(
    ("serde", "expected"),
    [
        (Text(), TEXT),
        (Long(), LONG),
        (Bool(), {"type": "boolean"}),
        (Bytes(), {"type": "string", "contentEncoding": "base64"}),
        (Json("n bigint"), {"type": "object", "properties": {"n": maybe(LONG)}}),
        (Json("array<string>"), {"type": "array", "items": maybe(TEXT)}),
        (Json("map<string, bigint>"), {"type": "object", "additionalProperties": maybe(LONG)}),
        (Json("v variant"), ANY),
        (
            Json(Trade),
            {
                "type": "object",
                "properties": {
                    "symbol": maybe(TEXT),
                    "lots": maybe({"type": "array", "items": maybe(LONG)}),
                },
            },
        ),
        (SparkJson('"decimal(10,2)"', member="value"), {"type": "number"}),
        (Avro('{"type": "array", "items": "long"}'), {"type": "array", "items": maybe(LONG)}),
        (
            JsonSchema({"type": "object", "properties": {"n": {"type": "integer"}}}),
            {"type": "object", "properties": {"n": maybe(LONG)}},
        ),
        (Avro(registry="mock://only-there"), ANY),
        (Custom(lambda column: column, lambda column: column), ANY),
    ],
)
def test_values_are_described_as_far_as_the_serde_knows_them(serde: Serde, expected: dict[str, Any]) -> None:
    assert serde.json_schema() == expected


def test_messages_are_described_by_their_fields() -> None:
    message = Protobuf('syntax = "proto3"; message Pair { int64 a = 1; string b = 2; }')

    assert message.json_schema()["properties"] == {"a": maybe(LONG), "b": maybe(TEXT)}


@pytest.mark.parametrize(
    ("serde", "expected"),
    [
        (Int(), {"type": "integer", "format": "int32"}),
        (Bytes(), {"type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$"}),
        (Json("n bigint"), TEXT),
    ],
)
def test_keys_are_described_as_a_url_has_them(serde: Serde, expected: dict[str, Any]) -> None:
    assert serde.key_json_schema() == expected

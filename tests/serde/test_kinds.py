"""Checks that a serde can be told to another process as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from pyspark.sql.types import LongType, StructType

import brookmere as bm
from brookmere.errors import UnsupportedError
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.kinds import describe_serde, read_serde

PROTO = 'syntax = "proto3"; message Pair { int32 a = 1; } message Other { string b = 1; }'
REGISTRY = bm.Registry("http://localhost:8081", ca_file="ca.pem", patience=timedelta(seconds=5))


@dataclass
class Trade:
    symbol: str
    ask: float


def told(serde: bm.Serde, **options: Any) -> bm.Serde:
    return read_serde(json.loads(json.dumps(describe_serde(serde))), **options)


@pytest.mark.parametrize(
    "serde",
    [
        bm.Text(),
        bm.Bytes(),
        bm.Int(),
        bm.Long(),
        bm.Double(),
        bm.Pickled(),
        bm.Bool(),
        bm.Json("a bigint, b array<string>"),
        bm.Json(StructType().add("a", LongType())),
        SparkJson('"date"', "value"),
        SparkJson('"date"', frame=bm.JsonSchema("a bigint", registry=REGISTRY)),
        bm.Windowed(bm.Text(), size=timedelta(seconds=5)),
        bm.Windowed(bm.Json("a int"), session=True),
        bm.Windowed(bm.Text(), form="json"),
        bm.Avro("a bigint", name="Pair"),
        bm.Avro(registry=REGISTRY, subject="trades", use_latest=True),
        bm.Avro(Trade, registry=False, register=False),
        bm.Protobuf(PROTO, message="Other", registry="mock://told"),
        bm.JsonSchema(Trade, registry=REGISTRY, subject="record"),
    ],
    ids=lambda serde: type(serde).__name__,
)
def test_a_serde_comes_back_equal(serde: bm.Serde) -> None:
    assert told(serde) == serde


def test_a_dataclass_comes_back_as_its_schema() -> None:
    data = bm.Json(Trade).serialize(Trade("A", 1.5))

    assert told(bm.Json(Trade)).deserialize(data) == {"symbol": "A", "ask": 1.5}


def test_a_generated_class_comes_back_with_what_it_imports() -> None:
    serde = bm.Protobuf(Timestamp)

    data = serde.serialize(Timestamp(seconds=7))

    assert told(serde).deserialize(data) == serde.deserialize(data)


def test_a_password_is_left_out_and_comes_from_the_settings() -> None:
    registry = bm.Registry("http://ada:secret@localhost:8081", basic_auth=("ada", "secret"))
    serde = bm.Avro(registry=registry)

    assert "secret" not in json.dumps(describe_serde(serde))
    assert told(serde, registry=registry) == serde


def test_a_reference_to_a_password_is_kept() -> None:
    serde = bm.Avro(registry=bm.Registry("http://localhost:8081", basic_auth=("ada", "${env:SECRET}")))

    assert told(serde) == serde


def test_functions_of_a_program_cannot_be_told() -> None:
    custom = bm.Custom(lambda data: data, lambda value: value, name="mine")

    with pytest.raises(UnsupportedError, match="'mine' cannot be described as JSON"):
        describe_serde(custom)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"Did you mean 'text'\?"):
        read_serde({"kind": "texts"})

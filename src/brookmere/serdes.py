"""Serdes: how keys and values become the bytes of a topic, and back."""

from __future__ import annotations

from brookmere.serde import (
    BadBytes,
    Bool,
    Bytes,
    Custom,
    Double,
    Int,
    Json,
    Long,
    Pickled,
    Registry,
    Serde,
    Text,
    Windowed,
)
from brookmere.serde.avro.avro import Avro
from brookmere.serde.columns import Columns
from brookmere.serde.json.json_schema import JsonSchema
from brookmere.serde.protobuf.protobuf import Protobuf

__all__ = [
    "Avro",
    "BadBytes",
    "Bool",
    "Bytes",
    "Columns",
    "Custom",
    "Double",
    "Int",
    "Json",
    "JsonSchema",
    "Long",
    "Pickled",
    "Protobuf",
    "Registry",
    "Serde",
    "Text",
    "Windowed",
]

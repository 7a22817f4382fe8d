"""JSON Schemas of keys and values, for the OpenAPI document."""

from __future__ import annotations

import json
from typing import Any

from brookmere.registry import Schema
from brookmere.serde import Bool, Bytes, Double, Int, Json, Long, Registered, Serde, Text
from brookmere.serde.json.json_text import NOT_FINITE
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.structures.spark_fields import NoSchema, structure_of

ANY: dict[str, Any] = {}
"""Any JSON: where only the serde knows what it writes."""

_NUMBER = {"anyOf": [{"type": "number"}, {"enum": list(NOT_FINITE)}]}
_BASE64 = {"type": "string", "contentEncoding": "base64"}
_SPARK: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "byte": {"type": "integer"},
    "short": {"type": "integer"},
    "integer": {"type": "integer", "format": "int32"},
    "long": {"type": "integer", "format": "int64"},
    "float": _NUMBER,
    "double": _NUMBER,
    "binary": _BASE64,
    "date": {"type": "string"},
    "timestamp": {"type": "string"},
    "timestamp_ntz": {"type": "string"},
    "void": {"type": "null"},
}


def value_schema(serde: Serde) -> dict[str, Any]:
    """Return the JSON Schema of values as answers have them, as far as the serde knows it.

    >>> value_schema(Json("n bigint"))["properties"]["n"]
    {'anyOf': [{'type': 'integer', 'format': 'int64'}, {'type': 'null'}]}
    """
    match serde:
        case Text():
            return {"type": "string"}
        case Int():
            return _SPARK["integer"]
        case Long():
            return _SPARK["long"]
        case Double():
            return _NUMBER
        case Bool():
            return {"type": "boolean"}
        case Bytes():
            return _BASE64
    try:
        return _of_type(_spark_type(serde))
    except NoSchema:
        return ANY


def key_schema(serde: Serde) -> dict[str, Any]:
    """Return the JSON Schema of keys as a URL has them."""
    match serde:
        case Int() | Long() | Bool():
            return value_schema(serde)
        case Double():
            return {"type": "number"}
        case Bytes():
            return {"type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$"}
        case _:
            return {"type": "string"}


def _spark_type(serde: Serde) -> Any:
    if isinstance(serde, Json):
        form = serde.schema_json()
        return json.loads(form) if form is not None else _ddl_type(serde.ddl or "")
    if isinstance(serde, SparkJson):
        return json.loads(serde.type)
    # A schema that only the registry has is not asked for: the document must not need the network.
    if not isinstance(serde, Registered) or serde.text is None:
        return None
    schema = Schema(serde.type, serde.text)
    match serde.kind:
        case "avro":
            from brookmere.serde.avro.avro import type_json

            return json.loads(type_json(schema, {}))
        case "json_schema":
            from brookmere.serde.json.json_schema import type_json as type_of_json_schema

            return json.loads(type_of_json_schema(schema))
        case "protobuf":
            from brookmere.serde.protobuf.descriptors import spark_type
            from brookmere.serde.protobuf.protobuf import Protobuf

            return spark_type(serde.expected_message()) if isinstance(serde, Protobuf) else None
        case _:
            return None


def _ddl_type(ddl: str) -> Any:
    # An array or a map alone is no list of fields, but it is the type of one.
    is_one_type = "<" in ddl.split(" ")[0]
    whole = structure_of(f"value {ddl}" if is_one_type else ddl)
    return whole["fields"][0]["type"] if whole is not None and is_one_type else whole


def _of_type(kind: Any) -> dict[str, Any]:
    if isinstance(kind, str):
        return {"type": "number"} if kind.startswith("decimal") else _SPARK.get(kind, ANY)
    match kind:
        case {"type": "struct", "fields": members}:
            properties = {member["name"]: _nullable(_of_type(member["type"])) for member in members}
            return {"type": "object", "properties": properties}
        case {"type": "array", "elementType": element}:
            return {"type": "array", "items": _nullable(_of_type(element))}
        case {"type": "map", "valueType": value}:
            return {"type": "object", "additionalProperties": _nullable(_of_type(value))}
        case _:
            return ANY


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return schema if schema == ANY else {"anyOf": [schema, {"type": "null"}]}

"""JSON Schemas of Spark types, as answers show their values: for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from brookmere.serde.json.json_text import NOT_FINITE

ANY: dict[str, Any] = {}
"""Any JSON: where only the serde knows what it writes."""

NUMBER: dict[str, Any] = {"anyOf": [{"type": "number"}, {"enum": list(NOT_FINITE)}]}
_SPARK: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "byte": {"type": "integer"},
    "short": {"type": "integer"},
    "integer": {"type": "integer", "format": "int32"},
    "long": {"type": "integer", "format": "int64"},
    "float": NUMBER,
    "double": NUMBER,
    "binary": {"type": "string", "contentEncoding": "base64"},
    "date": {"type": "string"},
    "timestamp": {"type": "string"},
    "timestamp_ntz": {"type": "string"},
    "void": {"type": "null"},
}


def schema_of_type(form: Any) -> dict[str, Any]:
    """Return the JSON Schema of values of a type in Spark's JSON form.

    >>> schema_of_type({"type": "array", "elementType": "string", "containsNull": True})
    {'type': 'array', 'items': {'anyOf': [{'type': 'string'}, {'type': 'null'}]}}
    """
    if isinstance(form, str):
        return {"type": "number"} if form.startswith("decimal") else _SPARK.get(form, ANY)
    match form:
        case {"type": "struct", "fields": members}:
            properties = {member["name"]: _nullable(schema_of_type(member["type"])) for member in members}
            return {"type": "object", "properties": properties}
        case {"type": "array", "elementType": element}:
            return {"type": "array", "items": _nullable(schema_of_type(element))}
        case {"type": "map", "valueType": value}:
            return {"type": "object", "additionalProperties": _nullable(schema_of_type(value))}
        case _:
            return ANY


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return schema if schema == ANY else {"anyOf": [schema, {"type": "null"}]}

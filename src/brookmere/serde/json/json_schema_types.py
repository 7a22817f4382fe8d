"""Spark types of JSON Schemas, and JSON Schemas of the fields of a program."""

from __future__ import annotations

import json
import re
from typing import Any

from brookmere.serde.structures.spark_fields import NAME, NoSchema

_PLAIN = {"string": "string", "integer": "long", "number": "double", "boolean": "boolean"}
_FORMATS = {"date": "date", "date-time": "timestamp"}
_TYPES: dict[str, dict[str, str]] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "byte": {"type": "integer"},
    "short": {"type": "integer"},
    "integer": {"type": "integer"},
    "long": {"type": "integer"},
    "float": {"type": "number"},
    "double": {"type": "number"},
    "binary": {"type": "string", "contentEncoding": "base64"},
    "date": {"type": "string", "format": "date"},
    "timestamp": {"type": "string", "format": "date-time"},
}
_DRAFT = "http://json-schema.org/draft-07/schema#"
_DECIMAL = re.compile(r"decimal\(\d+,\d+\)")


def spark_type(schema: Any) -> Any:
    """Return Spark's JSON form of the type that values of a JSON Schema have, or raise NoSchema."""
    if not isinstance(schema, dict):
        raise NoSchema(f"it is not a JSON object: found {type(schema).__name__}")
    kind, _ = _Reader(schema).type(schema, "value", ())
    if not isinstance(kind, dict):
        raise NoSchema(f"value is {kind}: the outermost value must be an object or an array")
    return kind


def json_schema_of(structure: dict[str, Any]) -> str:
    """Return the JSON Schema of fields in Spark's JSON form."""
    found = _schema(structure, "value")
    title = {"title": structure[NAME]} if NAME in structure else {}
    return json.dumps({"$schema": _DRAFT, **title, **found}, separators=(",", ":"))


class _Reader:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root

    def type(self, schema: Any, path: str, outer: tuple[str, ...]) -> tuple[Any, bool]:
        """Return a type, and whether it may be null."""
        if not isinstance(schema, dict):
            raise NoSchema(f"{path} may be anything: found {json.dumps(schema)}")
        if "$ref" in schema:
            return self._referred(str(schema["$ref"]), path, outer)
        for word in ("oneOf", "anyOf"):
            if word in schema:
                return self._choice(word, schema[word], path, outer)
        if "allOf" in schema:
            parts = schema["allOf"]
            if len(parts) != 1:
                raise NoSchema(f"{path} is allOf {len(parts)} schemas, for which there is no type")
            return self.type(parts[0], path, outer)
        kinds = self._kinds(schema, path)
        others = [kind for kind in kinds if kind != "null"]
        nullable = len(others) < len(kinds)
        if set(others) == {"integer", "number"}:
            others = ["number"]
        if not others:
            return "void", True
        if len(others) > 1:
            raise NoSchema(f"{path} is {' or '.join(others)}, for which there is no type")
        return self._one(others[0], schema, path, outer), nullable

    def _one(self, kind: str, schema: dict[str, Any], path: str, outer: tuple[str, ...]) -> Any:
        if kind == "object":
            return self._object(schema, path, outer)
        if kind == "array":
            items = schema.get("items")
            if not isinstance(items, dict):
                raise NoSchema(f"{path} is an array of anything: give it items of one schema")
            element, nullable = self.type(items, f"{path}[]", outer)
            return {"type": "array", "elementType": element, "containsNull": nullable}
        if kind not in _PLAIN:
            raise NoSchema(f"{path} has the type {kind!r}, which JSON Schema does not have")
        if kind == "string":
            if schema.get("contentEncoding") == "base64":
                return "binary"
            return _FORMATS.get(str(schema.get("format")), "string")
        return _PLAIN[kind]

    def _object(self, schema: dict[str, Any], path: str, outer: tuple[str, ...]) -> Any:
        properties = schema.get("properties")
        if properties:
            required = set(schema.get("required", ()))
            members = []
            for name, inner in properties.items():
                kind, nullable = self.type(inner, f"{path}.{name}", outer)
                metadata = {"required": True} if name in required else {}
                may_lack = nullable or name not in required
                members.append({"name": name, "type": kind, "nullable": may_lack, "metadata": metadata})
            return {"type": "struct", "fields": members}
        values = schema.get("additionalProperties")
        if not isinstance(values, dict):
            raise NoSchema(f"{path} is an object of anything: give it properties")
        value, nullable = self.type(values, f"{path}[]", outer)
        return {"type": "map", "keyType": "string", "valueType": value, "valueContainsNull": nullable}

    def _kinds(self, schema: dict[str, Any], path: str) -> list[str]:
        given = schema.get("type")
        if given is not None:
            return [given] if isinstance(given, str) else list(given)
        if "properties" in schema:
            return ["object"]
        if "items" in schema:
            return ["array"]
        values = schema.get("enum", [schema["const"]] if "const" in schema else [])
        kinds = list(dict.fromkeys(_kind(value) for value in values))
        if not kinds:
            raise NoSchema(f"{path} has no type")
        return kinds

    def _choice(self, word: str, members: Any, path: str, outer: tuple[str, ...]) -> tuple[Any, bool]:
        found = [self.type(member, path, outer) for member in members]
        types = {json.dumps(kind): kind for kind, _ in found if kind != "void"}
        if len(types) != 1:
            raise NoSchema(f"{path} is {word} {len(found)} schemas, for which there is no type")
        return next(iter(types.values())), any(nullable for _, nullable in found)

    def _referred(self, reference: str, path: str, outer: tuple[str, ...]) -> tuple[Any, bool]:
        if not reference.startswith("#"):
            raise NoSchema(f"{path} refers to {reference!r}, which is in another document")
        if reference in outer:
            raise NoSchema(f"{path} is a {reference} inside a {reference}: Spark has no types without end")
        found: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                raise NoSchema(f"{path} refers to {reference!r}, which is not there")
            found = found[name]
        return self.type(found, path, (*outer, reference))


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case _:
            return "array" if isinstance(value, list) else "object"


def _schema(kind: Any, path: str) -> dict[str, Any]:
    if isinstance(kind, str):
        if _DECIMAL.fullmatch(kind):
            return {"type": "number"}
        if kind not in _TYPES:
            raise NoSchema(f"{path} has the type {kind}, which JSON Schema does not have")
        return dict(_TYPES[kind])
    if kind["type"] == "array":
        return {"type": "array", "items": _part(kind["elementType"], kind["containsNull"], f"{path}[]")}
    if kind["type"] == "map":
        values = _part(kind["valueType"], kind["valueContainsNull"], f"{path}[]")
        return {"type": "object", "additionalProperties": values}
    properties = {
        member["name"]: _part(member["type"], member["nullable"], f"{path}.{member['name']}")
        for member in kind["fields"]
    }
    required = [member["name"] for member in kind["fields"] if not member["nullable"]]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _part(kind: Any, nullable: bool, path: str) -> dict[str, Any]:
    schema = _schema(kind, path)
    return {**schema, "type": [schema["type"], "null"]} if nullable else schema

"""Spark types of Avro schemas, and Avro schemas of the fields of a program."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import fastavro.schema

from brookmere.registry.schemas.avro import AvroSchemaError, parse_avro
from brookmere.serde.structures.spark_fields import DEFAULT, MEMBER, NAME, WITH_DEFAULT, NoSchema

_PLAIN = {
    "null": "void",
    "boolean": "boolean",
    "int": "integer",
    "long": "long",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
    "enum": "string",
    "fixed": "binary",
}
_LOGICAL = {
    ("int", "date"): "date",
    ("long", "timestamp-millis"): "timestamp",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "timestamp-nanos"): "timestamp",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
    ("long", "local-timestamp-nanos"): "timestamp_ntz",
}
_MOST_DIGITS = 38
_PAIRS = ({"int", "long"}, {"float", "double"})
_AVRO: dict[str, Any] = {
    "string": "string",
    "boolean": "boolean",
    "byte": "int",
    "short": "int",
    "integer": "int",
    "long": "long",
    "float": "float",
    "double": "double",
    "binary": "bytes",
    "date": {"type": "int", "logicalType": "date"},
    "timestamp": {"type": "long", "logicalType": "timestamp-micros"},
    "timestamp_ntz": {"type": "long", "logicalType": "local-timestamp-micros"},
}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_FULL_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def parsed(text: str, references: Mapping[str, str] | None = None) -> Any:
    """Return a schema as fastavro uses it; values of it are what the kernel shows, too."""
    strict: dict[str, Any] = {}
    named: dict[str, Any] = {}
    try:
        for one in (*(references or {}).values(), text):
            parse_avro(one, strict)
        for needed in (references or {}).values():
            fastavro.schema.parse_schema(_shown(json.loads(needed)), named, _force=True)
        return fastavro.schema.parse_schema(_shown(json.loads(text)), named, _force=True), named
    except AvroSchemaError as error:
        raise NoSchema(str(error)) from None
    except Exception as error:
        raise NoSchema(f"{type(error).__name__}: {error}") from error


def record_name(text: str) -> str | None:
    """Return the full name of a record, an enum or a fixed; None for other schemas."""
    tree = json.loads(text)
    if not isinstance(tree, dict) or "name" not in tree:
        return None
    name, space = str(tree["name"]), tree.get("namespace")
    return name if "." in name or not space else f"{space}.{name}"


def spark_type(schema: Any, named: Mapping[str, Any]) -> Any:
    """Return Spark's JSON form of the type that values of a parsed schema have."""
    return _type(schema, named, "value", ())[0]


def avro_of(structure: dict[str, Any], name: str) -> str:
    """Return the Avro schema of fields in Spark's JSON form, as a record of this name."""
    if not _FULL_NAME.fullmatch(name):
        raise NoSchema(f"{name!r} is not a name that Avro allows")
    space, _, short = name.rpartition(".")
    record = _record(structure, short, {})
    return json.dumps({**record, "namespace": space} if space else record, separators=(",", ":"))


def _shown(schema: Any) -> Any:
    """Return a schema without the logical types that stay what they are: texts, numbers or bytes."""
    if isinstance(schema, list):
        return [_shown(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    kept = dict(schema)
    kind, logical = kept.get("type"), kept.get("logicalType")
    if isinstance(kind, str) and logical != "decimal" and (kind, logical) not in _LOGICAL:
        kept.pop("logicalType", None)
    for part in ("type", "items", "values"):
        if isinstance(kept.get(part), dict | list):
            kept[part] = _shown(kept[part])
    if isinstance(kept.get("fields"), list):
        kept["fields"] = [_shown(member) for member in kept["fields"]]
    return kept


def _type(schema: Any, named: Mapping[str, Any], path: str, outer: tuple[str, ...]) -> tuple[Any, bool]:
    """Return a type, and whether it may be null."""
    if isinstance(schema, list):
        return _union(schema, named, path, outer)
    if isinstance(schema, str):
        if schema in _PLAIN:
            return _PLAIN[schema], schema == "null"
        if schema not in named:
            raise NoSchema(f"{path} has the type {schema!r}, which is not defined")
        return _type(named[schema], named, path, outer)
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return _type(kind, named, path, outer)
    if kind == "array":
        element, nullable = _type(schema["items"], named, f"{path}[]", outer)
        return {"type": "array", "elementType": element, "containsNull": nullable}, False
    if kind == "map":
        value, nullable = _type(schema["values"], named, f"{path}[]", outer)
        return {"type": "map", "keyType": "string", "valueType": value, "valueContainsNull": nullable}, False
    if kind in ("record", "error"):
        return _struct(schema, named, path, outer), False
    return _scalar(kind, schema, named, path, outer)


def _scalar(
    kind: str, schema: dict[str, Any], named: Mapping[str, Any], path: str, outer: tuple[str, ...]
) -> tuple[Any, bool]:
    if schema.get("logicalType") == "decimal" and kind in ("bytes", "fixed"):
        precision, scale = schema["precision"], schema.get("scale", 0)
        if precision > _MOST_DIGITS:
            raise NoSchema(f"{path} is a decimal of {precision} digits, and Spark has at most {_MOST_DIGITS}")
        return f"decimal({precision},{scale})", False
    logical = _LOGICAL.get((kind, schema.get("logicalType", "")))
    if logical is not None:
        return logical, False
    return (_PLAIN[kind], kind == "null") if kind in _PLAIN else _type(kind, named, path, outer)


def _struct(schema: dict[str, Any], named: Mapping[str, Any], path: str, outer: tuple[str, ...]) -> Any:
    name = schema["name"]
    if name in outer:
        raise NoSchema(f"{path} is a {name} inside a {name}: Spark has no types without end")
    members = []
    for member in schema["fields"]:
        kind, nullable = _type(member["type"], named, f"{path}.{member['name']}", (*outer, name))
        metadata = {WITH_DEFAULT: True} if "default" in member else {}
        members.append({"name": member["name"], "type": kind, "nullable": nullable, "metadata": metadata})
    return {"type": "struct", "fields": members}


def _union(
    members: list[Any], named: Mapping[str, Any], path: str, outer: tuple[str, ...]
) -> tuple[Any, bool]:
    others = [member for member in members if _kind(member) != "null"]
    nullable = len(others) < len(members)
    if not others:
        return "void", True
    if len(others) == 1:
        return _type(others[0], named, path, outer)[0], nullable
    kinds = {_kind(member) for member in others}
    if kinds in _PAIRS:
        return "long" if "long" in kinds else "double", nullable
    fields = [
        {
            "name": f"member{number}",
            "type": _type(member, named, f"{path}.member{number}", outer)[0],
            "nullable": True,
            "metadata": {MEMBER: True},
        }
        for number, member in enumerate(others)
    ]
    return {"type": "struct", "fields": fields}, nullable


def _kind(schema: Any) -> str:
    if isinstance(schema, dict) and isinstance(schema["type"], str):
        return str(schema["type"])
    return schema if isinstance(schema, str) else "union"


def _record(structure: dict[str, Any], name: str, made: dict[str, Any]) -> dict[str, Any]:
    members = []
    for member in structure["fields"]:
        kind = _avro(member["type"], f"{name}_{member['name']}", made, member["name"])
        known = member["metadata"].get(DEFAULT)
        made_of: dict[str, Any]
        if member["nullable"]:
            made_of = {"type": ["null", kind], "default": None}
        elif known is not None and isinstance(kind, str):
            made_of = {"type": kind, "default": known}
        else:
            made_of = {"type": kind}
        members.append({"name": member["name"], **made_of})
    return {"type": "record", "name": name, "fields": members}


def _avro(kind: Any, name: str, made: dict[str, Any], path: str) -> Any:
    if isinstance(kind, str):
        decimal = _DECIMAL.fullmatch(kind)
        if decimal:
            precision, scale = map(int, decimal.groups())
            return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
        if kind not in _AVRO:
            raise NoSchema(f"{path} has the type {kind}, which Avro does not have")
        return _AVRO[kind]
    if kind["type"] == "struct":
        # A dataclass has a name of its own, and is defined where it is met first.
        short = kind.get(NAME, name)
        if made.get(short) == kind:
            return short
        if short in made:
            short = name
        made[short] = kind
        return _record(kind, short, made)
    if kind["type"] == "array":
        items = _avro(kind["elementType"], name, made, f"{path}[]")
        return {"type": "array", "items": ["null", items] if kind["containsNull"] else items}
    if kind["keyType"] != "string":
        raise NoSchema(f"{path} is a map with keys that are not text, which Avro does not have")
    values = _avro(kind["valueType"], name, made, f"{path}[]")
    return {"type": "map", "values": ["null", values] if kind["valueContainsNull"] else values}

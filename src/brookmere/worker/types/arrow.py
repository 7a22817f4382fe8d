"""Converts Spark types to Arrow types, and values from the wire to values that Arrow accepts."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from brookmere.worker.protocol.stage_code import TypeCode

Feed = Callable[[Any], Any]

_SCALARS: dict[str, pa.DataType] = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "float": pa.float32(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


def arrow_type(code: TypeCode | None) -> pa.DataType:
    """Return Arrow's type for a type as the worker knows it; null for no known type."""
    return pa.null() if code is None else _arrow(json.loads(code.json))


def column(code: TypeCode | None, values: list[Any]) -> pa.Array:
    """Return values as they travel as an array of their type."""
    if code is None:
        return pa.nulls(len(values))
    parsed = json.loads(code.json)
    feed = _feed(parsed)
    return pa.array(values if feed is None else [feed(value) for value in values], _arrow(parsed))


def _arrow(kind: Any) -> pa.DataType:
    if not isinstance(kind, dict):
        if kind.startswith("decimal"):
            digits, scale = (int(part) for part in kind.partition("(")[2].rstrip(")").split(","))
            return pa.decimal128(digits, scale)
        return _SCALARS.get(kind, pa.string())
    match kind["type"]:
        case "struct":
            return pa.struct([(member["name"], _arrow(member["type"])) for member in kind["fields"]])
        case "array":
            return pa.list_(_arrow(kind["elementType"]))
        case "map":
            return pa.map_(_arrow(kind["keyType"]), _arrow(kind["valueType"]))
    raise ValueError(
        f"a value of the type {kind['type']} has no form in Arrow; use a function of single records"
    )


def _feed(kind: Any) -> Feed | None:
    """Return the conversion to a value that Arrow accepts; None if it accepts the value as it is."""
    if not isinstance(kind, dict):
        return _decimal if kind.startswith("decimal") else None
    match kind["type"]:
        case "array":
            return _list(_feed(kind["elementType"]))
        case "map":
            return _map(kind)
    parts = [(member["name"], _feed(member["type"])) for member in kind["fields"]]
    changed = [(name, feed) for name, feed in parts if feed is not None]
    return _struct(changed) if changed else None


def _decimal(value: str | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _list(element: Feed | None) -> Feed | None:
    if element is None:
        return None
    return lambda value: None if value is None else [element(item) for item in value]


def _map(kind: dict[str, Any]) -> Feed:
    key, member = _feed(kind["keyType"]) or _same, _feed(kind["valueType"]) or _same

    def feed(value: Any) -> Any:
        if value is None:
            return None
        pairs = value.items() if isinstance(value, dict) else value
        return [(key(k), member(v)) for k, v in pairs]

    return feed


def _struct(changed: list[tuple[str, Feed]]) -> Feed:
    def feed(value: Any) -> Any:
        if value is None:
            return None
        made = value.copy()
        for name, part in changed:
            made[name] = part(made[name])
        return made

    return feed


def _same(value: Any) -> Any:
    return value

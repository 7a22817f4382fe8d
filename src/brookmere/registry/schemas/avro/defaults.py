"""Checks that the default of an Avro field fits its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brookmere.registry.schemas.avro.model import Array, Enum, Fixed, Map, Primitive, Record, Type

_INT, _LONG = 2**31, 2**63


def fits(value: Any, type: Type) -> bool:
    """Return whether a JSON value is valid for a type; for a union, for one of its branches."""
    if isinstance(type, Primitive):
        return _PRIMITIVES[type.kind](value)
    if isinstance(type, Enum):
        return isinstance(value, str) and value in type.symbols
    if isinstance(type, Fixed):
        return _is_bytes(value) and len(value) == type.size
    if isinstance(type, Array):
        return isinstance(value, list) and all(fits(one, type.items) for one in value)
    if isinstance(type, Map):
        return isinstance(value, dict) and all(fits(one, type.values) for one in value.values())
    if isinstance(type, Record):
        return isinstance(value, dict) and all(
            fits(value[field.name], field.type) if field.name in value else field.has_default
            for field in type.fields
        )
    return any(fits(value, branch) for branch in type.branches)


def _is_integer(value: Any, limit: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_bytes(value: Any) -> bool:
    # Each character represents the byte of its code point.
    return isinstance(value, str) and all(ord(character) < 256 for character in value)


_PRIMITIVES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "int": lambda value: _is_integer(value, _INT),
    "long": lambda value: _is_integer(value, _LONG),
    "float": _is_number,
    "double": _is_number,
    "bytes": _is_bytes,
    "string": lambda value: isinstance(value, str),
}

"""The types of Avro. Records can be recursive, so types are compared by identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
NO_DEFAULT: Final = object()


@dataclass(eq=False, slots=True)
class Primitive:
    """A primitive type; `properties` holds additional attributes, such as a logical type."""

    kind: str
    properties: Mapping[str, Any]


@dataclass(eq=False, slots=True)
class Array:
    """An array of values of one type."""

    items: Type
    properties: Mapping[str, Any]


@dataclass(eq=False, slots=True)
class Map:
    """A map from strings to values of one type."""

    values: Type
    properties: Mapping[str, Any]


@dataclass(eq=False, slots=True)
class Union:
    """One of several types."""

    branches: tuple[Type, ...]


@dataclass(eq=False, slots=True)
class Enum:
    """One of several symbols; an unknown one is read as the default, if there is one."""

    name: str
    aliases: tuple[str, ...]
    doc: str | None
    properties: Mapping[str, Any]
    symbols: tuple[str, ...] = ()
    default: str | None = None


@dataclass(eq=False, slots=True)
class Fixed:
    """A fixed number of bytes."""

    name: str
    aliases: tuple[str, ...]
    doc: str | None
    properties: Mapping[str, Any]
    size: int = 0


@dataclass(eq=False, slots=True)
class Field:
    """A field of a record."""

    name: str
    type: Type
    aliases: tuple[str, ...]
    doc: str | None
    default: Any
    order: str
    properties: Mapping[str, Any]

    @property
    def has_default(self) -> bool:
        """Whether a reader can do without the writer's value."""
        return self.default is not NO_DEFAULT


@dataclass(eq=False, slots=True)
class Record:
    """Named fields in a fixed order."""

    name: str
    aliases: tuple[str, ...]
    doc: str | None
    properties: Mapping[str, Any]
    kind: str = "record"
    fields: list[Field] = field(default_factory=list)


Named = Record | Enum | Fixed
Type = Primitive | Array | Map | Union | Enum | Fixed | Record


def simple_name(name: str) -> str:
    """Return a name without its namespace."""
    return name.rpartition(".")[2]


def kind_of(type: Type) -> str:
    """Return Avro's name for a kind of type."""
    if isinstance(type, Primitive):
        return type.kind
    if isinstance(type, Record):
        return "record"
    return {Array: "array", Map: "map", Union: "union", Enum: "enum", Fixed: "fixed"}[type.__class__]


def shown(type: Type) -> str:
    """Return a type as messages show it."""
    if isinstance(type, Primitive):
        logical = type.properties.get("logicalType")
        return f"{type.kind} ({logical})" if logical else type.kind
    if isinstance(type, Record | Enum | Fixed):
        return f"{kind_of(type)} {type.name}"
    if isinstance(type, Array):
        return f"array of {shown(type.items)}"
    if isinstance(type, Map):
        return f"map of {shown(type.values)}"
    return f"union of {', '.join(shown(branch) for branch in type.branches)}"

"""Holds the types of Avro. A record may hold itself, so types are compared by identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
NO_DEFAULT: Final = object()


@dataclass(eq=False, slots=True)
class Primitive:
    """A type without parts; `properties` is what else was written, such as a logical type."""

    kind: str
    properties: Mapping[str, Any]


@dataclass(eq=False, slots=True)
class Array:
    """Many values of one type."""

    items: Type
    properties: Mapping[str, Any]


@dataclass(eq=False, slots=True)
class Map:
    """Values of one type by texts."""

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
    """So many bytes."""

    name: str
    aliases: tuple[str, ...]
    doc: str | None
    properties: Mapping[str, Any]
    size: int = 0


@dataclass(eq=False, slots=True)
class Field:
    """A part of a record."""

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
    """Named fields in their order."""

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
    """Return the word that Avro has for a kind of type."""
    if isinstance(type, Primitive):
        return type.kind
    if isinstance(type, Record):
        return "record"
    return {Array: "array", Map: "map", Union: "union", Enum: "enum", Fixed: "fixed"}[type.__class__]


def shown(type: Type) -> str:
    """Return a type as messages name it."""
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

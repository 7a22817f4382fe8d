"""The shape of a dataclass, and the Spark schema of a shape."""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from brookmere.errors import Fault, TopologyError

_SCALARS: dict[type, str] = {
    str: "string",
    int: "long",
    float: "double",
    bool: "boolean",
    bytes: "binary",
    datetime: "timestamp",
    date: "date",
    Decimal: "decimal(38,18)",
}
_REMEDY = (
    "Use str, int, float, bool, bytes, datetime, date, Decimal, list[T], dict[str, T], a dataclass, "
    "or one of these | None."
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value without parts, of a Python type that Spark has, too."""

    python: type


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list whose elements are all alike."""

    element: Slot


@dataclass(frozen=True, slots=True)
class MapOf:
    """A dict from text to values that are all alike."""

    value: Slot


@dataclass(frozen=True, slots=True)
class StructOf:
    """A dataclass, and what its fields hold."""

    python: type
    fields: tuple[tuple[str, Slot], ...]


Shape = Scalar | ListOf | MapOf | StructOf


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value: its shape, and whether it may be None."""

    shape: Shape
    optional: bool


def shape_of(record: type) -> StructOf:
    """Return the shape of a dataclass, or raise TopologyError with every field that has none."""
    faults: list[Fault] = []
    shape = _struct(record, (), faults)
    if faults:
        raise TopologyError(faults)
    return shape


def shape_of_dataclass(schema: object) -> StructOf | None:
    """Return the shape of a schema that is a dataclass, and None for any other."""
    return shape_of(schema) if isinstance(schema, type) and is_dataclass(schema) else None


def slot_of(hint: object) -> Slot | None:
    """Return the place for what an annotation describes, or None if it describes nothing that Spark has.

    Raises:
        TopologyError: a dataclass in it has fields that cannot be described.
    """
    faults: list[Fault] = []
    slot = _slot(hint, (), faults)
    if faults:
        raise TopologyError(faults)
    return slot


def spark_schema(shape: Shape, *, strict: bool = False) -> Any:
    """Return Spark's JSON form of a type.

    All of it may be null, as in every JSON that Spark reads; if `strict`, only what is declared `| None`.
    """
    match shape:
        case Scalar(python):
            return _SCALARS[python]
        case ListOf(element):
            inner, nullable = spark_schema(element.shape, strict=strict), element.optional or not strict
            return {"type": "array", "elementType": inner, "containsNull": nullable}
        case MapOf(value):
            return {
                "type": "map",
                "keyType": "string",
                "valueType": spark_schema(value.shape, strict=strict),
                "valueContainsNull": value.optional or not strict,
            }
        case StructOf(_, slots):
            members = [
                {
                    "name": name,
                    "type": spark_schema(slot.shape, strict=strict),
                    "nullable": slot.optional or not strict,
                    "metadata": {},
                }
                for name, slot in slots
            ]
            return {"type": "struct", "fields": members}


def type_name(hint: Any) -> str:
    """Return an annotation as the user wrote it."""
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def _struct(record: type, outer: tuple[type, ...], faults: list[Fault]) -> StructOf:
    where = f"{record.__module__}.{record.__qualname__}"
    try:
        hints = typing.get_type_hints(record)
    except (NameError, TypeError) as error:
        what = f"The annotations of {record.__name__} cannot be resolved: {error}"
        faults.append(Fault(what, where, "Define the types it names at the top level of its module."))
        return StructOf(record, ())
    slots: list[tuple[str, Slot]] = []
    if not fields(record):
        faults.append(Fault(f"{record.__name__} has no fields", where, "Give it at least one field."))
    for member in fields(record):
        what = f"Field {member.name!r} of {record.__name__} cannot be read from JSON"
        if not member.init:
            faults.append(Fault(f"{what}: it is init=False", where, "Make it a parameter of the dataclass."))
            continue
        slot = _slot(hints[member.name], (*outer, record), faults)
        if slot is None:
            faults.append(Fault(f"{what}: found {type_name(hints[member.name])}", where, _REMEDY))
        else:
            slots.append((member.name, slot))
    return StructOf(record, tuple(slots))


def _slot(hint: Any, outer: tuple[type, ...], faults: list[Fault]) -> Slot | None:
    optional = False
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        choices = [choice for choice in typing.get_args(hint) if choice is not types.NoneType]
        if len(choices) != 1:
            return None
        hint, optional = choices[0], True
    shape = _shape(hint, outer, faults)
    return None if shape is None else Slot(shape, optional)


def _shape(hint: Any, outer: tuple[type, ...], faults: list[Fault]) -> Shape | None:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        element = _slot(arguments[0], outer, faults)
        return None if element is None else ListOf(element)
    if origin is dict:
        value = _slot(arguments[1], outer, faults) if arguments[0] is str else None
        return None if value is None else MapOf(value)
    if not isinstance(hint, type):
        return None
    if hint in _SCALARS:
        return Scalar(hint)
    # A dataclass inside itself would give a schema without end.
    if is_dataclass(hint) and hint not in outer:
        return _struct(hint, outer, faults)
    return None

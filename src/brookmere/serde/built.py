"""Turns dicts into dataclasses of a shape, and dataclasses into dicts."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from brookmere.serde.base import BadBytes
from brookmere.serde.shape import ListOf, MapOf, Shape, Slot, StructOf


def build(shape: Shape, value: Any) -> Any:
    """Return a value with dataclasses where its shape has them; raise BadBytes where one refuses."""
    match shape:
        case ListOf(Slot(inner)):
            return [None if item is None else build(inner, item) for item in value]
        case MapOf(Slot(inner)):
            return {name: None if item is None else build(inner, item) for name, item in value.items()}
        case StructOf(python, slots):
            members = {name: _member(slot, value.get(name)) for name, slot in slots}
            try:
                return python(**members)
            except (TypeError, ValueError) as error:
                raise BadBytes(f"the value was refused by {python.__name__}: {error}") from error
        case _:
            return value


def as_plain(value: Any) -> Any:
    """Return a value with dicts in the place of dataclasses."""
    if is_dataclass(value) and not isinstance(value, type):
        return {member.name: as_plain(getattr(value, member.name)) for member in fields(value)}
    if isinstance(value, dict):
        return {name: as_plain(member) for name, member in value.items()}
    if type(value) in (list, tuple):
        return type(value)(as_plain(item) for item in value)
    return value


def _member(slot: Slot, value: Any) -> Any:
    return None if value is None else build(slot.shape, value)

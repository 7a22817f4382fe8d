"""Type annotations that turn structs into dataclass instances.

Annotations are resolved where the program is built: the worker may not have the modules they name.
"""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, fields, is_dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Made:
    """A struct that becomes an instance of a dataclass, and what becomes of its fields."""

    made: type
    parts: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Each:
    """A list or a map whose elements or values become something."""

    of: object


def resolved(hint: Any) -> object:
    """Return how an annotation converts a value; None if the value stays as it is."""
    if isinstance(hint, Made | Each | None):
        return hint
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        choices = [choice for choice in arguments if choice is not types.NoneType]
        return resolved(choices[0]) if len(choices) == 1 else None
    if origin in (list, dict):
        part = resolved(arguments[-1])
        return None if part is None else Each(part)
    if isinstance(hint, type) and is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        parts = [(member.name, resolved(hints[member.name])) for member in fields(hint) if member.init]
        return Made(hint, tuple((name, part) for name, part in parts if part is not None))
    return None

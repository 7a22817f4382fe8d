"""Turns a user's lambda into a value that remembers where it was written."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CellType, CodeType
from typing import Any

_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the user's program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def here() -> Location:
    """Return the nearest place on the call stack outside this package."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return Location("<unknown>", 0)
    return Location(frame.f_code.co_filename, frame.f_lineno)


@dataclass(frozen=True, slots=True)
class Function:
    """A user's function over Columns, called once, when the program is compiled.

    Two functions are equal when they come from the same line and have the same code,
    so that building the same program twice gives equal graphs.
    """

    role: str
    location: Location
    fingerprint: tuple[object, ...]
    call: Callable[..., Any] = field(compare=False, repr=False)


def function(role: str, call: Callable[..., Any]) -> Function:
    """Wrap `call`, which plays `role` (for example "predicate of filter")."""
    code = getattr(call, "__code__", None)
    if isinstance(code, CodeType):
        location = Location(code.co_filename, code.co_firstlineno)
        if code.co_filename.startswith(_PACKAGE):
            location = here()
        return Function(role, location, _code_print(call, code), call)
    return Function(role, here(), (repr(call),), call)


def _code_print(call: Callable[..., Any], code: CodeType) -> tuple[object, ...]:
    closure = tuple(_content(cell) for cell in getattr(call, "__closure__", None) or ())
    defaults = (repr(getattr(call, "__defaults__", None)), repr(getattr(call, "__kwdefaults__", None)))
    return (*_body(code), closure, defaults, sys.version_info[:2])


def _body(code: CodeType) -> tuple[object, ...]:
    constants = tuple(_body(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts)
    return (code.co_code, constants, code.co_names)


def _content(cell: CellType) -> str:
    try:
        return repr(cell.cell_contents)
    except ValueError:
        # A variable that the enclosing function assigns further down has no value yet.
        return "<unassigned>"

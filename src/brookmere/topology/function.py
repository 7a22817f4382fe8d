"""A user's function as a value: it knows where it was written, and equals itself in a second build."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CellType, CodeType
from typing import Any

from brookmere.errors import Fault

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
    fault: Fault | None = field(default=None, compare=False, repr=False)
    """Why it cannot play its role; build() reports it together with all others."""


def function(role: str, call: Callable[..., Any]) -> Function:
    """Wrap `call`, which plays `role` (for example "predicate of filter")."""
    return Function(role, location_of(call), fingerprint_of(call), call)


def location_of(call: object) -> Location:
    """Return where a function is written, or the user's line where that is not known."""
    code = getattr(call, "__code__", None)
    if not isinstance(code, CodeType) or code.co_filename.startswith(_PACKAGE):
        return here()
    return Location(code.co_filename, code.co_firstlineno)


def fingerprint_of(call: object) -> tuple[object, ...]:
    """Return what identifies a function or a class: its code, and the values that the code refers to."""
    code = getattr(call, "__code__", None)
    if isinstance(code, CodeType):
        return _code_print(call, code)
    if isinstance(call, type):
        members = sorted((name, member) for name, member in vars(call).items() if callable(member))
        name = f"{call.__module__}.{call.__qualname__}"
        return (name, tuple((n, _code_print(m, m.__code__)) for n, m in members if hasattr(m, "__code__")))
    if isinstance(call, partial):
        return (fingerprint_of(call.func), repr(call.args), repr(call.keywords))
    return (repr(call),)


def _code_print(call: object, code: CodeType) -> tuple[object, ...]:
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

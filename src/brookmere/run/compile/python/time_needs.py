"""Finds out by its code whether a processor has to know stream time or the wall clock."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from brookmere.worker.api.processor import FixedKeyProcessor, Processor

_BASES = (Processor, FixedKeyProcessor)


@dataclass(frozen=True, slots=True)
class TimeNeeds:
    """Which clocks a processor needs, in addition to its records."""

    stream_time: bool
    wall_clock: bool


def time_needs(supplier: Callable[[], Any]) -> TimeNeeds:
    """Return what the processors need that `supplier` makes.

    One that schedules or asks for stream time says so by these words in its methods. Where a function outside
    of the class does it, the class says so by `reads_stream_time = True` and `uses_wall_clock = True`.
    """
    made = _made_by(supplier)
    words = set(_words(made))
    schedules = "schedule" in words
    by_clock = bool(getattr(made, "uses_wall_clock", False)) or (schedules and "wall_clock" in words)
    by_time = bool(getattr(made, "reads_stream_time", False)) or schedules or "stream_time" in words
    return TimeNeeds(by_time, by_clock)


def _made_by(supplier: Callable[[], Any]) -> type:
    if isinstance(supplier, type):
        return supplier
    try:
        hint = typing.get_type_hints(supplier).get("return")
    except (NameError, TypeError, AttributeError):
        hint = None
    if isinstance(hint, type) and issubclass(hint, _BASES) and hint not in _BASES:
        return hint
    return type(supplier())


def _words(made: type) -> Iterator[str]:
    """Yield the names and texts in the methods of a class."""
    for each in made.__mro__:
        if each in _BASES:
            return
        for member in vars(each).values():
            for part in (member, getattr(member, "fget", None), getattr(member, "__func__", None)):
                code = getattr(inspect.unwrap(part) if callable(part) else part, "__code__", None)
                if isinstance(code, CodeType):
                    yield from _code_words(code)


def _code_words(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_words(constant)
        elif isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from (part for part in constant if isinstance(part, str))

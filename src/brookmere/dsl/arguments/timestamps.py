"""Checks of the arguments about record timestamps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from brookmere.dsl.arguments.checks import field_or_lambda, refuse
from brookmere.names import nearest
from brookmere.topology.function import Function
from brookmere.topology.python_code import PythonFunction
from brookmere.topology.times import OnInvalidTimestamp, RecordClock

Timestamp = str | Callable[..., Any] | RecordClock
"""A field of the value, a function of the record, or a clock: record_time or wall_clock."""


def timestamp_of(given: Timestamp | None) -> Function | RecordClock | None:
    """Check where the time of a record comes from; None leaves it to the application."""
    if given is None or isinstance(given, RecordClock):
        return given
    if not isinstance(given, str | PythonFunction) and not callable(given):
        refuse(
            f"A timestamp must be a field of the value, a function or a clock, found {given!r}",
            "Pass for example 'created_at', a lambda, or brookmere.wall_clock",
        )
    return field_or_lambda("timestamp", given)


def on_invalid_of(given: OnInvalidTimestamp | None) -> OnInvalidTimestamp | None:
    """Check what to do about an invalid time."""
    known = get_args(OnInvalidTimestamp)
    if given is not None and given not in known:
        close = nearest(str(given), known)
        remedy = f"Did you mean {close!r}?" if close else f"Pass {', '.join(map(repr, known))}"
        refuse(f"on_invalid_timestamp cannot be {given!r}", remedy)
    return given

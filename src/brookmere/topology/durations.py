"""Durations in the DSL: checked, in whole milliseconds, refused at the user's line; and as text."""

from __future__ import annotations

from datetime import timedelta
from typing import NoReturn

from brookmere.durations import Duration as Duration
from brookmere.durations import to_timedelta
from brookmere.errors import Fault, TopologyError
from brookmere.topology.function import here

_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))
_MILLISECOND = timedelta(milliseconds=1)
_EXAMPLE = 'Pass a timedelta, or a text such as "5s", "15m" or "1h 30m"'


def milliseconds(role: str, duration: object, *, least: int | None = 0) -> int:
    """Return `duration` in milliseconds; `role` names it in errors, for example "size of TimeWindows"."""
    try:
        length = to_timedelta(duration)
    except TypeError:
        if isinstance(duration, int) and not isinstance(duration, bool):
            refuse(f"The {role} is the number {duration}, which has no unit", _EXAMPLE)
        refuse(f"The {role} must be a duration, found {duration!r}", _EXAMPLE)
    except ValueError as error:
        refuse(f"The {role} must be a duration: {error}", _EXAMPLE)
    number, rest = divmod(length, _MILLISECOND)
    if rest:
        refuse(f"The {role} must be whole milliseconds, found {duration!r}", "Round it to milliseconds")
    if least is not None and number < least:
        remedy = "Pass zero or more" if least == 0 else f"Pass at least {least} ms"
        refuse(f"The {role} must not be {'negative' if number < 0 else 'zero'}, found {number} ms", remedy)
    return number


def duration_text(ms: int) -> str:
    """Return a length of time in the largest unit that divides it.

    >>> duration_text(90_000), duration_text(120_000), duration_text(5)
    ('90 s', '2 min', '5 ms')
    """
    unit, size = next(((unit, size) for unit, size in _UNITS if ms and ms % size == 0), ("ms", 1))
    return f"{ms // size} {unit}"


def refuse(what: str, remedy: str) -> NoReturn:
    """Raise an error with one fault at the user's line."""
    raise TopologyError([Fault(what, str(here()), remedy)])

"""Lengths of time: how users pass them, and how texts show them."""

from __future__ import annotations

from datetime import timedelta
from typing import NoReturn

from brookmere.errors import Fault, TopologyError
from brookmere.topology.function import here

Duration = timedelta | int
"""A length of time: a timedelta, or whole milliseconds."""

_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))
_MILLISECOND = timedelta(milliseconds=1)
_LONGEST = timedelta.max // _MILLISECOND


def milliseconds(role: str, duration: object, *, least: int | None = 0) -> int:
    """Return `duration` in milliseconds; `role` says what it is, for example "size of TimeWindows"."""
    if isinstance(duration, timedelta) and duration % _MILLISECOND:
        refuse(f"The {role} must be whole milliseconds, found {duration!r}", "Round it to milliseconds")
    number = duration // _MILLISECOND if isinstance(duration, timedelta) else duration
    if not isinstance(number, int) or isinstance(number, bool):
        refuse(
            f"The {role} must be a length of time, found {duration!r}", "Pass a timedelta or int milliseconds"
        )
    if abs(number) > _LONGEST:
        refuse(f"The {role} is too long: {number} ms", f"Pass at most {_LONGEST} ms, the longest timedelta")
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

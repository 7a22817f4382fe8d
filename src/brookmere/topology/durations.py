"""Turns a length of time that a user passes into whole milliseconds, or into an error at the user's line."""

from __future__ import annotations

from datetime import timedelta
from typing import NoReturn

from brookmere.errors import Fault, TopologyError
from brookmere.topology.function import here

Duration = timedelta | int
"""A length of time: a timedelta, or whole milliseconds."""

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


def refuse(what: str, remedy: str) -> NoReturn:
    """Raise an error with one fault at the user's line."""
    raise TopologyError([Fault(what, str(here()), remedy)])

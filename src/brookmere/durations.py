"""Durations as users write them: a timedelta, or a text such as "5s", "15m" or "1h 30m".

A bare number is refused everywhere: it does not say whether it counts seconds or milliseconds.
"""

from __future__ import annotations

import re
from datetime import timedelta

Duration = timedelta | str
"""A timedelta, or a text of numbers with units: "250ms", "5s", "15m", "2h", "1d", "1h 30m"."""

_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_PART = r"\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)"
_TEXT = re.compile(rf"\s*-?\s*{_PART}(?:\s*{_PART})*\s*")


def to_timedelta(duration: object) -> timedelta:
    """Return a duration as a timedelta.

    >>> to_timedelta("1h 30m")
    datetime.timedelta(seconds=5400)

    Raises:
        TypeError: it is neither a timedelta nor a text.
        ValueError: the text is not a duration.
    """
    if isinstance(duration, timedelta):
        return duration
    if isinstance(duration, str):
        return _parse(duration)
    if isinstance(duration, int | float) and not isinstance(duration, bool):
        raise TypeError(
            f"a duration needs a unit, found the number {duration!r}; "
            f'pass a timedelta, or a text such as "{duration}s" or "{duration}ms"'
        )
    raise TypeError(f'a duration is a timedelta or a text such as "5s", found {duration!r}')


def to_seconds(duration: Duration) -> float:
    """Return a duration in seconds. Raises as `to_timedelta` does."""
    return to_timedelta(duration).total_seconds()


def _parse(text: str) -> timedelta:
    if not _TEXT.fullmatch(text):
        raise ValueError(f'{text!r} is not a duration; write for example "250ms", "5s", "15m", "2h" or "1d"')
    total = timedelta()
    for number, unit in re.findall(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)", text):
        try:
            total += timedelta(**{_UNITS[unit]: float(number) if "." in number else int(number)})
        except OverflowError:
            raise ValueError(f"{text!r} is longer than the longest timedelta, {timedelta.max}") from None
    return -total if text.lstrip().startswith("-") else total

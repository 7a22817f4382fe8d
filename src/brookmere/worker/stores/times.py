"""Converts times that user code passes to stores to milliseconds since 1970 (UTC), or rejects them."""

from __future__ import annotations

from typing import Any, Final

EARLIEST: Final = 0
LATEST: Final = (1 << 63) - 1


def instant(time: Any, what: str) -> int:
    """Return a valid time: an integer of milliseconds, not before 1970."""
    whole = _whole(time, what)
    if whole < 0:
        raise ValueError(f"{what} cannot be before 1970: found {whole}")
    if whole > LATEST:
        raise ValueError(f"{what} does not fit 8 bytes: found {whole}; give milliseconds")
    return whole


def bound(time: Any, what: str) -> int:
    """Return a time to look up from or to; one that no row can have is as good as the nearest one."""
    return max(-1, min(_whole(time, what), LATEST))


def _whole(time: Any, what: str) -> int:
    if type(time) is not int:
        raise TypeError(f"{what} counts milliseconds since 1970: found {time!r}; give an int")
    return time

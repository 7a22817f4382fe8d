"""Turns the times that user code gives to stores into milliseconds since 1970 (UTC), or refuses them."""

from __future__ import annotations

from typing import Any, Final

EARLIEST: Final = 0
LATEST: Final = (1 << 63) - 1


def instant(time: Any, what: str) -> int:
    """Return a time that can be put; anything but a whole number of milliseconds from 1970 on is refused."""
    if type(time) is not int:
        raise TypeError(f"{what} counts milliseconds since 1970: found {time!r}; give an int")
    if time < 0:
        raise ValueError(f"{what} cannot be before 1970: found {time}")
    return time

"""Timestamps in milliseconds since 1970, as topics and stores use them."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now_ms() -> int:
    """Return the current time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def milliseconds(moment: int | datetime) -> int:
    """Return a time as milliseconds since 1970; a datetime without a time zone is UTC."""
    if isinstance(moment, int):
        return moment
    given: object = moment
    if not isinstance(given, datetime):
        raise TypeError(
            f"a time is a datetime, or milliseconds since 1970 as an int; "
            f"found {type(given).__name__} {given!r}"
        )
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1)

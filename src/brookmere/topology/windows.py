"""Windows: which span of time a record belongs to, and how long it stays open. All times are milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal as OneOf

Duration = timedelta | int
"""A length of time: a timedelta, or whole milliseconds."""

Emit = OneOf["update", "close"]
"""When a windowed aggregate sends its results: at every update, or once, when the window has closed."""


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """Windows of one size, aligned to the epoch: tumbling, or hopping with an `advance` below the size."""

    size_ms: int
    advance_ms: int
    grace_ms: int


@dataclass(frozen=True, slots=True)
class SlidingWindows:
    """Windows around the records themselves: both bounds inclusive, `difference_ms` apart."""

    difference_ms: int
    grace_ms: int


@dataclass(frozen=True, slots=True)
class SessionWindows:
    """Windows that grow while records come, and end after a gap without any."""

    gap_ms: int
    grace_ms: int


@dataclass(frozen=True, slots=True)
class UnlimitedWindows:
    """One window without end, from `start_ms` on."""

    start_ms: int


@dataclass(frozen=True, slots=True)
class JoinWindows:
    """The times of right records that meet a left one: from `before_ms` before it to `after_ms` after it."""

    before_ms: int
    after_ms: int
    grace_ms: int


Windows = TimeWindows | SlidingWindows | SessionWindows | UnlimitedWindows

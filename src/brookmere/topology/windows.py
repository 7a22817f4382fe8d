"""Windows: which span of time a record belongs to, and how long it stays open. All times are milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal as OneOf

from brookmere.topology.durations import Duration, duration_text, milliseconds, refuse

Emit = OneOf["update", "close"]
"""When a windowed aggregate sends its results: at every update, or once, when the window has closed."""

FOREVER = 2**63 - 1
"""The end of windows that have none, and how long they are kept."""

_NO_GRACE = timedelta(0)


@dataclass(frozen=True, slots=True, init=False)
class TimeWindows:
    """Windows of one size, aligned to the epoch: tumbling, or hopping with an `advance` below the size.

    A window goes from its start to before its end. It takes records until stream time reaches its end and
    `grace` has gone by.

    >>> from datetime import timedelta
    >>> TimeWindows(timedelta(minutes=5), advance=timedelta(minutes=1))
    TimeWindows(size_ms=300000, advance_ms=60000, grace_ms=0)
    """

    size_ms: int
    advance_ms: int
    grace_ms: int

    def __init__(
        self, size: Duration, *, advance: Duration | None = None, grace: Duration = _NO_GRACE
    ) -> None:
        size_ms = milliseconds("size of TimeWindows", size, least=1)
        advance_ms = size_ms
        if advance is not None:
            advance_ms = milliseconds("advance of TimeWindows", advance, least=1)
        if advance_ms > size_ms:
            what = f"The advance of TimeWindows is {advance_ms} ms, longer than the size of {size_ms} ms"
            refuse(what, "Pass an advance up to the size: records between two windows would have none")
        object.__setattr__(self, "size_ms", size_ms)
        object.__setattr__(self, "advance_ms", advance_ms)
        object.__setattr__(self, "grace_ms", milliseconds("grace of TimeWindows", grace))

    @property
    def length_ms(self) -> int | None:
        """The length that all windows have."""
        return self.size_ms

    @property
    def retention_ms(self) -> int:
        """How long a store keeps the windows at least, and if nothing else is said."""
        return self.size_ms + self.grace_ms

    @property
    def wait_ms(self) -> int:
        """How long after its end a window can still change."""
        return self.grace_ms

    @property
    def details(self) -> list[str]:
        """What `explain` shows of the windows."""
        size = duration_text(self.size_ms)
        if self.advance_ms == self.size_ms:
            return [f"tumbling windows of {size}", *_grace(self.grace_ms)]
        return [f"hopping windows of {size} every {duration_text(self.advance_ms)}", *_grace(self.grace_ms)]


@dataclass(frozen=True, slots=True, init=False)
class SlidingWindows:
    """Windows around the records themselves: both bounds inclusive, `difference` apart."""

    difference_ms: int
    grace_ms: int

    def __init__(self, difference: Duration, *, grace: Duration = _NO_GRACE) -> None:
        object.__setattr__(self, "difference_ms", milliseconds("difference of SlidingWindows", difference))
        object.__setattr__(self, "grace_ms", milliseconds("grace of SlidingWindows", grace))

    @property
    def length_ms(self) -> int | None:
        """The length that all windows have."""
        return self.difference_ms

    @property
    def retention_ms(self) -> int:
        """How long a store keeps the windows at least, and if nothing else is said."""
        # A record can end a window that began two differences before it.
        return 2 * self.difference_ms + self.grace_ms

    @property
    def wait_ms(self) -> int:
        """How long after its end a window can still change."""
        return self.grace_ms

    @property
    def details(self) -> list[str]:
        """What `explain` shows of the windows."""
        return [f"sliding windows of {duration_text(self.difference_ms)}", *_grace(self.grace_ms)]


@dataclass(frozen=True, slots=True, init=False)
class SessionWindows:
    """Windows that grow while records come, and end after a gap without any. Both bounds are inclusive."""

    gap_ms: int
    grace_ms: int

    def __init__(self, gap: Duration, *, grace: Duration = _NO_GRACE) -> None:
        object.__setattr__(self, "gap_ms", milliseconds("gap of SessionWindows", gap))
        object.__setattr__(self, "grace_ms", milliseconds("grace of SessionWindows", grace))

    @property
    def length_ms(self) -> int | None:
        """None: sessions differ in length."""
        return None

    @property
    def retention_ms(self) -> int:
        """How long a store keeps the sessions at least, and if nothing else is said."""
        return self.gap_ms + self.grace_ms

    @property
    def wait_ms(self) -> int:
        """How long after its end a session can still change."""
        return self.gap_ms + self.grace_ms

    @property
    def details(self) -> list[str]:
        """What `explain` shows of the windows."""
        return [f"sessions with gaps up to {duration_text(self.gap_ms)}", *_grace(self.grace_ms)]


@dataclass(frozen=True, slots=True, init=False)
class UnlimitedWindows:
    """One window without end, from `start` on, in milliseconds since 1970. Records before it have none."""

    start_ms: int

    def __init__(self, start: int = 0) -> None:
        if not isinstance(start, int) or isinstance(start, bool) or not 0 <= start < FOREVER:
            what = f"The start of UnlimitedWindows must be a time from 1970 on, found {start!r}"
            refuse(what, "Pass whole milliseconds since 1970, not negative")
        object.__setattr__(self, "start_ms", start)

    @property
    def length_ms(self) -> int | None:
        """None: the window has no end."""
        return None

    @property
    def retention_ms(self) -> int:
        """How long a store keeps the window."""
        return FOREVER

    @property
    def wait_ms(self) -> int:
        """How long after its end the window can still change."""
        return 0

    @property
    def details(self) -> list[str]:
        """What `explain` shows of the windows."""
        return [f"one window without end from {self.start_ms} on"]


@dataclass(frozen=True, slots=True, init=False)
class JoinWindows:
    """The times of right records that meet a left one: from `before` it to `after` it, both inclusive.

    `difference` sets both; each may be given on its own and may even be negative, as long as the span
    is not.

    >>> from datetime import timedelta
    >>> JoinWindows(timedelta(seconds=5), after=timedelta(0))
    JoinWindows(before_ms=5000, after_ms=0, grace_ms=0)
    """

    before_ms: int
    after_ms: int
    grace_ms: int

    def __init__(
        self,
        difference: Duration | None = None,
        *,
        before: Duration | None = None,
        after: Duration | None = None,
        grace: Duration = _NO_GRACE,
    ) -> None:
        before, after = (difference if side is None else side for side in (before, after))
        if before is None or after is None:
            refuse("JoinWindows needs a span", "Pass the difference, or both before= and after=")
        before_ms = milliseconds("before of JoinWindows", before, least=None)
        after_ms = milliseconds("after of JoinWindows", after, least=None)
        if before_ms + after_ms < 0:
            what = f"JoinWindows end before they begin: {before_ms} ms before to {after_ms} ms after"
            refuse(what, "Pass before and after whose sum is not negative")
        object.__setattr__(self, "before_ms", before_ms)
        object.__setattr__(self, "after_ms", after_ms)
        object.__setattr__(self, "grace_ms", milliseconds("grace of JoinWindows", grace))

    @property
    def details(self) -> list[str]:
        """What `explain` shows of the windows."""
        span = f"{duration_text(self.before_ms)} before to {duration_text(self.after_ms)} after"
        return [span, *_grace(self.grace_ms)]


Windows = TimeWindows | SlidingWindows | SessionWindows | UnlimitedWindows


def _grace(ms: int) -> list[str]:
    return [f"grace {duration_text(ms)}"] if ms else []

"""Tells which rows of a window store can still be found, as the kernel's stores do."""

from __future__ import annotations

from brookmere.worker.aggregates.definitions import FOREVER

_SEGMENT = 60_000
"""The shortest span of time that Kafka Streams drops at once."""


class Retention:
    """How long rows are found. `by_time`: they are also found by time over all keys."""

    __slots__ = ("_ms", "_segment", "reach")

    def __init__(self, retention_ms: int | None, by_time: bool, is_session: bool) -> None:
        self._ms = FOREVER if retention_ms is None else retention_ms
        # Kafka Streams' stores of windows that are also found by time reach one millisecond further.
        self.reach = self._ms if by_time and not is_session else self._ms - 1
        """Rows that are older than this, seen from the store's time, cannot be found any more."""
        self._segment = max(self._ms // 2, _SEGMENT) if by_time and is_session else None

    def droppable(self, now: int) -> int:
        """Return the time before which rows may be gone: closed sessions stay until their segment goes."""
        if self._segment is None:
            return now - self.reach
        # Whole segments, counted towards 0 as Java divides.
        expired, segment = now - self._ms, self._segment
        return expired // segment * segment if expired >= 0 else -(-expired // segment * segment)

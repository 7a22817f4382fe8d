"""The rows of a store of windows or sessions, found by key and by time."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from brookmere.state.rows.backend import Backend
from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.layout import (
    LAST_TIME,
    NUMBER,
    TIME,
    behind,
    entry,
    escaped,
    number,
    time,
    time_of,
    unescaped,
)

ROWS, TIMES = "rows", "times"


class TimedRow(NamedTuple):
    """A row of a window or session. `time` is the window's start, or the session's end."""

    place: bytes
    """Identifies the row in a cursor."""
    key: bytes
    time: int
    start: int
    entry: bytes


class TimedRows:
    """Rows by key and time, with an index by time, until their retention ends.

    The store's time is the highest timestamp its partition has seen. Rows older than that minus the
    retention are no longer found, and are deleted.
    """

    tables = (ROWS, TIMES)

    def __init__(
        self, backend: Backend, partitions: int, *, retention_ms: int | None, sessions: bool
    ) -> None:
        self._backend = backend
        self._partitions = partitions
        self._retention = retention_ms
        # Sessions sort by end, then by start; windows by start only.
        self._tail = 2 * TIME if sessions else TIME
        self._sessions = sessions
        self.observed: dict[int, int] = {}
        self._swept: dict[int, int] = {}

    def writes(self, chunk: Chunk) -> dict[str, dict[bytes, bytes | None]]:
        """Return the changes of the tables, including rows that expire."""
        rows: dict[bytes, bytes | None] = {}
        times: dict[bytes, bytes | None] = {}
        own = number(chunk.partition)
        latest = self.observed.get(chunk.partition, -1)
        for place, windowed in enumerate(chunk.keys):
            if windowed is None or len(windowed) < self._tail:
                continue
            key, tail = escaped(windowed[: -self._tail]), _sortable(windowed[-self._tail :])
            value = chunk.values[place]
            rows[key + tail + own] = None if value is None else entry(chunk.timestamps[place], value)
            times[own + tail + key] = None if value is None else b""
            # A deletion advances the store's time, too, as it does in the application.
            latest = max(latest, time_of(tail[:TIME]))
        self.observed[chunk.partition] = latest
        self._expire(chunk.partition, rows, times)
        return {ROWS: rows, TIMES: times}

    def of_key(
        self,
        key: bytes,
        start: int = 0,
        end: int = LAST_TIME,
        *,
        reverse: bool = False,
        after: bytes | None = None,
    ) -> Iterator[TimedRow]:
        """Iterate over the rows of a key between two times, inclusive."""
        prefix = escaped(key)
        lower, upper = prefix + time(start), behind(prefix + time(end))
        if after is not None and reverse:
            upper = after if upper is None else min(upper, after)
        elif after is not None:
            lower = max(lower, after + b"\x00")
        for place, kept in self._backend.scan(ROWS, lower, upper, reverse=reverse):
            row = self._row(place, place, kept)
            if row.time >= self.oldest(_partition(place)):
                yield row

    def by_time(
        self, start: int = 0, end: int = LAST_TIME, *, reverse: bool = False, after: bytes | None = None
    ) -> Iterator[TimedRow]:
        """Iterate over the rows of all keys between two times, ordered by time and then by key."""
        parts = (
            self._indexed(partition, start, end, reverse, after) for partition in range(self._partitions)
        )
        for place in map(itemgetter(0), merge(*parts, key=itemgetter(0), reverse=reverse)):
            tail, key, own = place[: self._tail], place[self._tail : -NUMBER], place[-NUMBER:]
            kept = self._backend.get(ROWS, key + tail + own)
            # It may have been deleted since the index was read.
            if kept is not None:
                yield self._row(place, key + tail + own, kept)

    def count(self) -> int:
        """Return the number of rows."""
        return sum(1 for p in range(self._partitions) for _ in self._indexed(p, 0, LAST_TIME, False, None))

    def estimate(self) -> int:
        """Return the estimated number of rows."""
        return self._backend.entries(ROWS)

    def oldest(self, partition: int) -> int:
        """Return the earliest time whose rows a partition still keeps."""
        if self._retention is None:
            return 0
        return max(0, self.observed.get(partition, -1) - self._retention + 1)

    def _expire(
        self, partition: int, rows: dict[bytes, bytes | None], times: dict[bytes, bytes | None]
    ) -> None:
        oldest, swept = self.oldest(partition), self._swept.get(partition, 0)
        own = number(partition)
        upper = own + time(oldest)
        late = [place for place in times if place < upper]
        old = (place for place, _ in self._backend.scan(TIMES, own + time(swept), upper))
        for place in chain(late, old if swept < oldest else ()):
            tail, key = place[NUMBER : NUMBER + self._tail], place[NUMBER + self._tail :]
            rows[key + tail + own] = None
            times[place] = None
        self._swept[partition] = oldest

    def _indexed(
        self, partition: int, start: int, end: int, reverse: bool, after: bytes | None
    ) -> Iterator[tuple[bytes]]:
        own = number(partition)
        lower, upper = own + time(max(start, self.oldest(partition))), behind(own + time(end))
        if after is not None and reverse:
            last = own + after[:-NUMBER] + b"\x00"
            upper = last if upper is None else min(upper, last)
        elif after is not None:
            lower = max(lower, own + after[:-NUMBER])
        for place, _ in self._backend.scan(TIMES, lower, upper, reverse=reverse):
            sortable = place[NUMBER:] + own
            if after is None or (sortable < after if reverse else sortable > after):
                yield (sortable,)

    def _row(self, place: bytes, raw: bytes, kept: bytes) -> TimedRow:
        tail = raw[-NUMBER - self._tail : -NUMBER]
        return TimedRow(
            place, unescaped(raw[: -NUMBER - self._tail]), time_of(tail[:TIME]), time_of(tail[-TIME:]), kept
        )


def _sortable(tail: bytes) -> bytes:
    return b"".join(
        time(int.from_bytes(tail[at : at + TIME], "big", signed=True)) for at in range(0, len(tail), TIME)
    )


def _partition(place: bytes) -> int:
    return int.from_bytes(place[-NUMBER:], "big")

"""Window and session stores, queried by key and by time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from brookmere.record import WindowedKey
from brookmere.state.queries import (
    Row,
    SessionKeyQuery,
    SessionRangeQuery,
    Time,
    WindowKeyQuery,
    WindowRangeQuery,
)
from brookmere.state.rows.layout import LAST_TIME, TIME, timestamp_of
from brookmere.state.rows.timed_rows import TimedRow
from brookmere.state.stores.stores import AnyStore
from brookmere.topics.times import milliseconds


class WindowStore(AnyStore):
    """A store of time windows. Windows older than its retention are gone."""

    kind_words = "a window store"
    answers = "get(key, start), fetch(key, start, end), fetch_all(start, end), all() or count()"
    _window_bytes = TIME

    def get(self, key: Any, start: Time) -> Any:
        """Return the value of a key in the window that starts at `start`, or None."""
        rows = self.fetch(key, start, start)
        return next((value for _, value in rows), None)

    def fetch(
        self, key: Any, start: Time | None = None, end: Time | None = None, *, reverse: bool = False
    ) -> Iterator[tuple[WindowedKey, Any]]:
        """Iterate over a key's windows that start between two times, inclusive."""
        return self._guarded(self._list(WindowKeyQuery(key, start, end, reverse=reverse), None))

    def fetch_all(
        self, start: Time | None = None, end: Time | None = None, *, reverse: bool = False
    ) -> Iterator[tuple[WindowedKey, Any]]:
        """Iterate over the windows of all keys that start between two times, in time order."""
        return self._guarded(self._list(WindowRangeQuery(start, end, reverse=reverse), None))

    def all(self, *, reverse: bool = False) -> Iterator[tuple[WindowedKey, Any]]:
        """Iterate over all windows in time order."""
        return self.fetch_all(reverse=reverse)

    def _list(
        self, query: WindowKeyQuery | WindowRangeQuery, after: bytes | None
    ) -> Iterator[tuple[bytes, Row]]:
        start, end = _span(query.start, query.end)
        if isinstance(query, WindowKeyQuery):
            raw = self._key_bytes(query.key)
            rows = self._rows().of_key(raw, start, end, reverse=query.reverse, after=after)
        else:
            rows = self._rows().by_time(start, end, reverse=query.reverse, after=after)
        return map(self._row, rows)

    def _shown_key(self, raw: bytes) -> WindowedKey:
        start = int.from_bytes(raw[-TIME:], "big", signed=True)
        return WindowedKey(self._key.deserialize(raw[:-TIME]), start, self._end(start))

    def _row(self, row: TimedRow) -> tuple[bytes, Row]:
        key = WindowedKey(self._key.deserialize(row.key), row.start, self._end(row.start))
        value = self._value.deserialize(row.entry[TIME:])
        return row.place, Row(key, value, timestamp_of(row.entry))

    def _end(self, start: int) -> int:
        size = self.info.window_ms
        return LAST_TIME if size is None else min(start + size, LAST_TIME)


class SessionStore(AnyStore):
    """A store of sessions. Sessions older than its retention are gone."""

    kind_words = "a session store"
    answers = "fetch(key), find(key, earliest_end, latest_start), all() or count()"
    _window_bytes = 2 * TIME

    def fetch(self, key: Any, *, reverse: bool = False) -> Iterator[tuple[WindowedKey, Any]]:
        """Iterate over the sessions of a key, ordered by end."""
        return self._guarded(self._list(SessionKeyQuery(key, reverse=reverse), None))

    def find(
        self, key: Any, earliest_end: Time, latest_start: Time, *, reverse: bool = False
    ) -> Iterator[tuple[WindowedKey, Any]]:
        """Iterate over a key's sessions that end at `earliest_end` or later and start by `latest_start`."""
        query = SessionKeyQuery(key, earliest_end, latest_start, reverse=reverse)
        return self._guarded(self._list(query, None))

    def all(self, *, reverse: bool = False) -> Iterator[tuple[WindowedKey, Any]]:
        """Iterate over all sessions, ordered by end."""
        return self._guarded(self._list(SessionRangeQuery(reverse=reverse), None))

    def _list(
        self, query: SessionKeyQuery | SessionRangeQuery, after: bytes | None
    ) -> Iterator[tuple[bytes, Row]]:
        start, end = _span(query.start, query.end)
        if isinstance(query, SessionRangeQuery):
            return map(self._row, self._rows().by_time(start, end, reverse=query.reverse, after=after))
        raw = self._key_bytes(query.key)
        rows = self._rows().of_key(raw, start, reverse=query.reverse, after=after)
        return (self._row(row) for row in rows if row.start <= end)

    def _shown_key(self, raw: bytes) -> WindowedKey:
        end, start = (
            int.from_bytes(raw[at : at + TIME], "big", signed=True) for at in (-2 * TIME, len(raw) - TIME)
        )
        return WindowedKey(self._key.deserialize(raw[: -2 * TIME]), start, end)

    def _row(self, row: TimedRow) -> tuple[bytes, Row]:
        key = WindowedKey(self._key.deserialize(row.key), row.start, row.time)
        return row.place, Row(key, self._value.deserialize(row.entry[TIME:]), timestamp_of(row.entry))


def _span(start: Time | None, end: Time | None) -> tuple[int, int]:
    return (
        0 if start is None else max(0, milliseconds(start)),
        LAST_TIME if end is None else milliseconds(end),
    )

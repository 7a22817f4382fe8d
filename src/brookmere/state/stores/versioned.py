"""Versioned stores: the value of a key now, as of a time, and over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from brookmere.state.queries import MultiVersionedKeyQuery, Row, Time, VersionedKeyQuery, VersionedRangeQuery
from brookmere.state.rows.layout import LAST_TIME
from brookmere.state.rows.version_rows import VersionRow
from brookmere.state.stores.stores import AnyStore
from brookmere.topics.times import milliseconds


class Version(NamedTuple):
    """A value and when it was valid, in milliseconds since 1970; `until` is None if it still is."""

    value: Any
    since: int
    until: int | None


class VersionedStore(AnyStore):
    """A versioned store, as far back as the table's history reaches."""

    kind_words = "a versioned store"
    answers = "get(key, as_of), versions(key, start, end), all() or count()"

    def get(self, key: Any, as_of: Time | None = None) -> Any:
        """Return the value of a key, now or as of a time; None if there was none."""
        row = self._find(VersionedKeyQuery(key, as_of))
        return None if row is None else row.value

    def get_with_timestamp(self, key: Any, as_of: Time | None = None) -> tuple[Any, int] | None:
        """Return the value and since when it was valid; None if there was none."""
        row = self._find(VersionedKeyQuery(key, as_of))
        return None if row is None else (row.value, row.timestamp)

    def versions(
        self, key: Any, start: Time | None = None, end: Time | None = None, *, reverse: bool = False
    ) -> Iterator[Version]:
        """Iterate over the versions of a key that were valid between two times, inclusive."""
        query = MultiVersionedKeyQuery(key, start, end, reverse=reverse)
        with self._answering():
            for _, row in self._list(query, None):
                yield Version(row.value, row.timestamp, row.until)

    def all(self, *, reverse: bool = False) -> Iterator[tuple[Any, Any]]:
        """Iterate over the current keys and values."""
        return self._guarded(self._list(VersionedRangeQuery(reverse=reverse), None))

    def _find(self, query: VersionedKeyQuery) -> Row | None:
        as_of = None if query.as_of is None else milliseconds(query.as_of)
        with self._answering():
            row = self._rows().get(self._key_bytes(query.key), as_of)
        return None if row is None else self._row(row)[1]

    def _list(
        self, query: MultiVersionedKeyQuery | VersionedRangeQuery, after: bytes | None
    ) -> Iterator[tuple[bytes, Row]]:
        if isinstance(query, VersionedRangeQuery):
            return map(self._row, self._rows().latest(reverse=query.reverse, after=after))
        start = -LAST_TIME if query.start is None else milliseconds(query.start)
        end = LAST_TIME if query.end is None else milliseconds(query.end)
        raw = self._key_bytes(query.key)
        return map(self._row, self._rows().versions(raw, start, end, reverse=query.reverse, after=after))

    def _row(self, row: VersionRow) -> tuple[bytes, Row]:
        value = self._value.deserialize(row.value)
        return row.place, Row(self._key.deserialize(row.key), value, row.since, row.until)

"""A store with one row per key, queried by key, key range and prefix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from brookmere.state.queries import KeyQuery, RangeQuery, Row
from brookmere.state.rows.key_rows import KeyRow
from brookmere.state.rows.layout import TIME, behind, timestamp_of
from brookmere.state.rows.rocksdb import closed
from brookmere.state.stores.stores import AnyStore


class KeyValueStore(AnyStore):
    """A store with one row per key. Rows are ordered by their serialised keys."""

    kind_words = "a key-value store"
    answers = "get(), range(), prefix(), all() or count()"

    def get(self, key: Any) -> Any:
        """Return the value of a key, or None."""
        # The hot path: it skips the steps of other queries.
        raw = self._key.serialize(key) or self._key_bytes(key)
        try:
            entry = (self._tail.answering or self._rows()).get(raw)
        except Exception as error:
            raise closed(error) or error from error
        return None if entry is None else self._value.deserialize(entry[TIME:])

    def get_with_timestamp(self, key: Any) -> tuple[Any, int] | None:
        """Return the value and timestamp of a key, or None."""
        row = self._find(KeyQuery(key))
        return None if row is None else (row.value, row.timestamp)

    def raw(self, key: bytes) -> tuple[bytes, int] | None:
        """Return the serialised value of a serialised key and its timestamp, without decoding."""
        entry = self._entry(key)
        return None if entry is None else (entry[TIME:], timestamp_of(entry))

    def range(
        self, lower: Any = None, upper: Any = None, *, reverse: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        """Iterate over keys and values between two keys, inclusive; None leaves an end open."""
        return self._guarded(self._list(RangeQuery(lower, upper, reverse=reverse), None))

    def prefix(self, prefix: str | bytes, *, reverse: bool = False) -> Iterator[tuple[Any, Any]]:
        """Iterate over keys and values whose serialised key starts with `prefix`."""
        return self._guarded(self._list(RangeQuery(prefix=prefix, reverse=reverse), None))

    def all(self, *, reverse: bool = False) -> Iterator[tuple[Any, Any]]:
        """Iterate over all keys and values."""
        return self._guarded(self._list(RangeQuery(reverse=reverse), None))

    def _entry(self, key: bytes) -> bytes | None:
        try:
            found: bytes | None = self._rows().get(key)
        except Exception as error:
            raise closed(error) or error from error
        return found

    def _find(self, query: KeyQuery) -> Row | None:
        found = self.raw(self._key_bytes(query.key))
        return None if found is None else Row(query.key, self._value.deserialize(found[0]), found[1])

    def _list(self, query: RangeQuery, after: bytes | None) -> Iterator[tuple[bytes, Row]]:
        lower, upper = self._bounds(query)
        rows = self._rows().scan(lower, upper, reverse=query.reverse, after=after)
        return map(self._row, rows)

    def _bounds(self, query: RangeQuery) -> tuple[bytes, bytes | None]:
        if query.prefix is not None:
            if query.lower is not None or query.upper is not None:
                raise ValueError("query a prefix or a range of keys, not both")
            given: object = query.prefix
            if not isinstance(given, str | bytes):
                raise TypeError(
                    f"a prefix is text, or the first bytes of keys; found {type(given).__name__} {given!r}"
                )
            prefix = given.encode() if isinstance(given, str) else given
            return prefix, behind(prefix)
        lower = b"" if query.lower is None else self._key_bytes(query.lower)
        # The first key after the upper bound, which is included.
        upper = None if query.upper is None else self._key_bytes(query.upper) + b"\x00"
        return lower, upper

    def _row(self, row: KeyRow) -> tuple[bytes, Row]:
        entry = row.entry
        value = self._value.deserialize(entry[TIME:])
        return row.place, Row(self._key.deserialize(row.key), value, timestamp_of(entry))

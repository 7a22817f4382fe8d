"""The rows of a store with one row per key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa

from brookmere.state.rows.backend import Backend
from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.layout import NUMBER, behind, entry, escaped, number, unescaped
from brookmere.topics.partitioner import partitions_of

ROWS, STRAYS = "rows", "strays"


class KeyRow(NamedTuple):
    """A row in the order of keys."""

    place: bytes
    """Identifies the row in a cursor."""
    key: bytes
    entry: bytes


class KeyRows:
    """Rows by key.

    Almost always a key belongs to the partition of its hash, and one look-up finds its row. If a program
    partitions its keys differently, several tasks may have a row for one key: rows in other partitions are
    strays and have a separate table.
    """

    tables = (ROWS, STRAYS)

    def __init__(self, backend: Backend, partitions: int, *, is_global: bool = False) -> None:
        self._backend = backend
        self._find = backend.reader(ROWS)
        self.get: Callable[[bytes], bytes | None] = self._find
        """Returns the entry of a key, or None. Without strays it is the look-up itself: the hot path."""
        self._partitions = 1 if is_global else partitions
        self.observed: dict[int, int] = {}
        self._has_strays = False
        if any(True for _ in backend.scan(STRAYS)):
            self._expect_strays()

    def writes(self, chunk: Chunk) -> dict[str, dict[bytes, bytes | None]]:
        """Return the changes of the tables; the last record of a key wins."""
        rows: dict[bytes, bytes | None] = {}
        strays: dict[bytes, bytes | None] = {}
        homes = self._homes(chunk)
        own = number(chunk.partition + 1)
        for place, key in enumerate(chunk.keys):
            if key is None:
                continue
            value = chunk.values[place]
            kept = None if value is None else entry(chunk.timestamps[place], value)
            if homes is None or homes[place] == chunk.partition:
                rows[key] = kept
            else:
                strays[escaped(key) + own] = kept
        if strays:
            self._expect_strays()
        return {ROWS: rows, STRAYS: strays}

    def scan(
        self,
        lower: bytes = b"",
        upper: bytes | None = None,
        *,
        reverse: bool = False,
        after: bytes | None = None,
    ) -> Iterator[KeyRow]:
        """Iterate from a key up to but excluding another, or continue after a row."""
        at, stop = lower, upper
        if after is not None and reverse:
            last = unescaped(after[:-NUMBER]) + (b"" if after.endswith(number(0)) else b"\x00")
            stop = last if stop is None else min(last, stop)
        elif after is not None:
            at = max(at, unescaped(after[:-NUMBER]) + b"\x00")
        rows = (
            KeyRow(escaped(key) + number(0), key, kept)
            for key, kept in self._backend.scan(ROWS, at, stop, reverse=reverse)
        )
        if not self._has_strays:
            return rows
        strays = self._strays(lower, upper, reverse, after)
        return merge(rows, strays, key=itemgetter(0), reverse=reverse)

    def count(self) -> int:
        """Return the number of rows."""
        return sum(1 for table in self.tables for _ in self._backend.scan(table))

    def estimate(self) -> int:
        """Return the estimated number of rows."""
        return sum(self._backend.entries(table) for table in self.tables)

    def _expect_strays(self) -> None:
        self._has_strays = True
        self.get = self._find_anywhere

    def _find_anywhere(self, key: bytes) -> bytes | None:
        found = self._find(key)
        if found is not None:
            return found
        prefix = escaped(key)
        return next((kept for _, kept in self._backend.scan(STRAYS, prefix, behind(prefix))), None)

    def _strays(
        self, lower: bytes, upper: bytes | None, reverse: bool, after: bytes | None
    ) -> Iterator[KeyRow]:
        at = escaped(lower) if lower else b""
        stop = None if upper is None else escaped(upper)
        if after is not None and reverse:
            stop = after if stop is None else min(stop, after)
        elif after is not None:
            at = max(at, after + b"\x00")
        for place, kept in self._backend.scan(STRAYS, at, stop, reverse=reverse):
            yield KeyRow(place, unescaped(place[:-NUMBER]), kept)

    def _homes(self, chunk: Chunk) -> list[int | None] | None:
        """Return the partition of each key by its hash; None if there is only one."""
        if self._partitions == 1:
            return None
        homes: list[int | None] = partitions_of(
            pa.array(chunk.keys, pa.binary()), self._partitions
        ).to_pylist()
        return homes

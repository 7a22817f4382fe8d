"""Rows of a replica in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from sortedcontainers import SortedDict

from brookmere.state.rows.backend import META, Writes

_PAGE = 1024


class Memory:
    """Tables in memory, gone with the process."""

    def __init__(self, tables: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._tables: dict[str, Any] = {name: SortedDict() for name in (META, *tables)}
        self._bytes = 0

    def get(self, table: str, key: bytes) -> bytes | None:
        found: bytes | None = self._tables[table].get(key)
        return found

    def reader(self, table: str) -> Callable[[bytes], bytes | None]:
        found: Callable[[bytes], bytes | None] = self._tables[table].get
        return found

    def scan(
        self, table: str, lower: bytes = b"", upper: bytes | None = None, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        # A page at a time: rows may change in between, and a slow reader blocks nobody.
        rows = self._tables[table]
        open_ends = (True, False)
        while True:
            with self._lock:
                keys = rows.irange(lower, upper, inclusive=open_ends, reverse=reverse)
                page = [(key, rows[key]) for key in islice(keys, _PAGE)]
            yield from page
            if len(page) < _PAGE:
                return
            last = page[-1][0]
            if reverse:
                upper = last
            else:
                lower, open_ends = last, (False, False)

    def write(self, writes: Writes) -> None:
        with self._lock:
            for table, changes in writes.items():
                self._change(self._tables[table], changes.items())

    def _change(self, rows: Any, changes: Any) -> None:
        for key, value in changes:
            before = rows.pop(key, None) if value is None else rows.get(key)
            if before is not None:
                self._bytes -= len(key) + len(before)
            if value is not None:
                rows[key] = value
                self._bytes += len(key) + len(value)

    def clear(self) -> None:
        with self._lock:
            for rows in self._tables.values():
                rows.clear()
            self._bytes = 0

    def entries(self, table: str) -> int:
        return len(self._tables[table])

    def bytes(self) -> int:
        return self._bytes

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

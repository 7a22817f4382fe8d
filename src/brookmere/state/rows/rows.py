"""Opens the rows of a store by its kind."""

from __future__ import annotations

from typing import Protocol

from brookmere.state.description.store_info import StoreInfo
from brookmere.state.rows.backend import Backend
from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.key_rows import KeyRows
from brookmere.state.rows.timed_rows import TimedRows
from brookmere.state.rows.version_rows import VersionRows


class Rows(Protocol):
    """The rows of a store of any kind."""

    observed: dict[int, int]
    """The highest timestamp seen by each partition."""

    def writes(self, chunk: Chunk) -> dict[str, dict[bytes, bytes | None]]:
        """Return the changes that these records make to the tables."""

    def count(self) -> int:
        """Return the number of rows."""

    def estimate(self) -> int:
        """Return the estimated number of rows, without counting."""


def tables_of(info: StoreInfo) -> tuple[str, ...]:
    """Return the tables that a store needs."""
    if info.kind == "key_value":
        return KeyRows.tables
    return VersionRows.tables if info.kind == "versioned" else TimedRows.tables


def rows_of(info: StoreInfo, backend: Backend, partitions: int) -> Rows:
    """Return the rows of a store, read from its tables."""
    if info.kind == "key_value":
        return KeyRows(backend, partitions, is_global=info.is_global)
    if info.kind == "versioned":
        return VersionRows(backend, history_ms=info.retention_ms)
    return TimedRows(backend, partitions, retention_ms=info.retention_ms, sessions=info.kind == "session")

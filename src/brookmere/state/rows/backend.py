"""The storage interface of a replica: sorted tables that change together, atomically."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

Writes = Mapping[str, Mapping[bytes, bytes | None]]
"""By table and key, the new value; None deletes."""

META = "default"
"""The table with the replica's own notes."""


class Backend(Protocol):
    """Sorted tables of bytes. One thread writes; any thread reads."""

    def get(self, table: str, key: bytes) -> bytes | None:
        """Return the value of a key, or None."""

    def reader(self, table: str) -> Callable[[bytes], bytes | None]:
        """Return a fast `get` for one table; valid until the tables are cleared."""

    def scan(
        self, table: str, lower: bytes = b"", upper: bytes | None = None, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Iterate from `lower` up to but excluding `upper`. Rows may change; none is returned twice."""

    def write(self, writes: Writes) -> None:
        """Change all tables at once."""

    def clear(self) -> None:
        """Delete everything."""

    def entries(self, table: str) -> int:
        """Return the number of rows of a table; an estimate if counting takes too long."""

    def bytes(self) -> int:
        """Return the stored size, in files or in memory."""

    def close(self) -> None:
        """Close the files."""

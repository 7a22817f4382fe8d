"""Says what the rows of a replica are kept in: sorted tables that change together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

Writes = Mapping[str, Mapping[bytes, bytes | None]]
"""By table and key, what to put there; None deletes."""

META = "default"
"""The table with what the replica knows about itself."""


class Backend(Protocol):
    """Sorted tables of bytes. One thread writes; any thread reads."""

    def get(self, table: str, key: bytes) -> bytes | None:
        """Return what a key has, or None."""

    def reader(self, table: str) -> Callable[[bytes], bytes | None]:
        """Return `get` of one table, for who asks often; it holds until the tables are cleared."""

    def scan(
        self, table: str, lower: bytes = b"", upper: bytes | None = None, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Iterate from `lower` to before `upper`. Rows may change meanwhile; none comes twice."""

    def write(self, writes: Writes) -> None:
        """Change all tables at once."""

    def clear(self) -> None:
        """Delete everything."""

    def entries(self, table: str) -> int:
        """Return how many rows a table has; an estimate where counting would take long."""

    def bytes(self) -> int:
        """Return how much is kept, in files or in memory."""

    def close(self) -> None:
        """Let go of the files."""

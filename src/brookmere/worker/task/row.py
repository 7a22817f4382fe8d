"""Holds the record that a task is processing: what its outputs inherit, and where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brookmere.record import Header

NOTHING: Final[Any] = object()
"""Stands for the key and the value when there is no current record; it is identical to no other object."""


_PARTITION_BITS: Final = 18
_PARTITIONS: Final = (1 << _PARTITION_BITS) - 1
_CLOCK: Final = (1 << 31) - 1
"""The source of what a tick of the wall clock has caused."""


class Row:
    """The current record. In a punctuation and at the end of a batch there is none: `is_record` is False.

    `key` and `value` are what the entry node received, to recognise outputs that pass them on. `timestamp`
    and `headers` belong to the record that the current node received; `own_headers` are those of the input.
    """

    __slots__ = (
        "headers",
        "is_latest",
        "is_record",
        "key",
        "number",
        "own_headers",
        "seqs",
        "sources",
        "timestamp",
        "topics",
        "value",
    )

    def __init__(self, topics: Sequence[str]) -> None:
        self.topics = topics
        self.number = 0
        self.sources: Sequence[int] = ()
        self.seqs: Sequence[int] = ()
        self.leave(0, -1)

    def leave(self, number: int, timestamp: int) -> None:
        """Clear the current record. Outputs come after those of a row."""
        self.number = number
        self.key: Any = NOTHING
        self.value: Any = NOTHING
        self.timestamp = timestamp
        self.headers: tuple[Header, ...] = ()
        self.own_headers: tuple[Header, ...] = ()
        self.is_latest = True
        self.is_record = False

    @property
    def topic(self) -> str | None:
        """The topic of the root record; None where a clock is the root."""
        return self.topics[self.sources[self.number] >> _PARTITION_BITS] if self._has_root else None

    @property
    def partition(self) -> int | None:
        """The partition of the root record."""
        return self.sources[self.number] & _PARTITIONS if self._has_root else None

    @property
    def offset(self) -> int | None:
        """The offset of the root record."""
        return self.seqs[self.number] if self._has_root else None

    @property
    def _has_root(self) -> bool:
        return self.is_record and self.sources[self.number] != _CLOCK

"""Records and windowed keys, as Python code sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Header = tuple[str, bytes | None]
"""The name of a header and its bytes. Names may repeat, and their order matters."""


_new = object.__new__


# Not frozen: a worker creates one per record, and a frozen one takes three times as long.
@dataclass(slots=True, unsafe_hash=True)
class Record:
    """A decoded record. `timestamp` is in milliseconds since 1970 (UTC). Do not change it: `with_…` copies.

    `topic`, `partition` and `offset` are None for a record that is not in a topic yet.
    """

    key: Any
    value: Any
    timestamp: int
    headers: tuple[Header, ...] = ()
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None

    def with_key(self, key: Any) -> Record:
        """Return the record with another key."""
        return Record(key, self.value, self.timestamp, self.headers, self.topic, self.partition, self.offset)

    def with_value(self, value: Any) -> Record:
        """Return the record with another value."""
        # Most processors call this for every record, and this is the fastest way.
        made = _new(Record)
        made.key = self.key
        made.value = value
        made.timestamp = self.timestamp
        made.headers = self.headers
        made.topic = self.topic
        made.partition = self.partition
        made.offset = self.offset
        return made

    def with_timestamp(self, timestamp: int) -> Record:
        """Return the record with another timestamp, in milliseconds since 1970 (UTC)."""
        return Record(self.key, self.value, timestamp, self.headers, self.topic, self.partition, self.offset)

    def with_headers(self, headers: Iterable[Header]) -> Record:
        """Return the record with these headers and no others."""
        them = tuple(headers)
        return Record(self.key, self.value, self.timestamp, them, self.topic, self.partition, self.offset)

    def with_header(self, name: str, value: bytes | None) -> Record:
        """Return the record with one more header at the end."""
        return self.with_headers((*self.headers, (name, value)))


@dataclass(frozen=True, slots=True)
class WindowedKey:
    """A key together with its window, from `start` to `end` in milliseconds since 1970 (UTC)."""

    key: Any
    start: int
    end: int

    def __post_init__(self) -> None:
        if self.start < 0:
            raise ValueError(f"a window cannot start before 1970: found start {self.start}")
        if self.end < self.start:
            raise ValueError(f"a window cannot end before it starts: found {self.start} to {self.end}")

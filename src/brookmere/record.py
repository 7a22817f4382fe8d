"""Holds a record as Python code sees it: what stands in a topic, decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Header = tuple[str, bytes | None]
"""A header's name and its bytes. Names may repeat; their order counts."""


@dataclass(frozen=True, slots=True)
class Record:
    """A decoded record. `timestamp` counts milliseconds since 1970 (UTC).

    `topic`, `partition` and `offset` are None for a record that stands in no topic yet.
    """

    key: Any
    value: Any
    timestamp: int
    headers: tuple[Header, ...] = ()
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None


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

"""Collects the outputs of a task as columns, for the answer to the JVM."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brookmere.record import Header

_COUNTS = 4
RECEIVED, FORWARDED, DROPPED, FAILED = range(_COUNTS)


class Collector:
    """Columns of outputs. The lists stay the same objects, so that callers can keep their append methods.

    If `only` is given it is the one node that sends outputs, all of them to all its children outside: then
    `nodes` and `to` stay empty.
    """

    def __init__(self, numbers: list[int], only: int | None) -> None:
        self._only = only
        self.is_of_one = only is not None
        self.rows: list[int] = []
        self.nodes: list[int] = []
        self.to: list[int] = []
        self.flags = bytearray()
        self.keys: list[Any] = []
        self.values: list[Any] = []
        self.times: list[int] = []
        self.headers: dict[int, Any] = {}
        self.errors: list[tuple[Any, ...]] = []
        self.counts = {number: [0] * _COUNTS for number in numbers}

    def without_headers(self, since: int) -> None:
        """Remove the headers of the input rows from the outputs from this position on."""
        for place in range(since, len(self.rows)):
            self.headers.setdefault(place, None)

    def result(self, changes: list[Any], clocks: dict[str, int] | None) -> tuple[Any, ...]:
        """Return everything collected, in wire form. It must be written before `clear`."""
        return (
            self.rows,
            self._only if self._only is not None else _one(self.nodes),
            -1 if self._only is not None else _one(self.to),
            bytes(self.flags),
            self.keys,
            self.values,
            self.times,
            self._headers(),
            self.errors,
            changes,
            self._counts(),
            clocks or {},
        )

    def clear(self) -> None:
        """Clear all columns."""
        for column in (
            self.rows,
            self.nodes,
            self.to,
            self.keys,
            self.values,
            self.times,
            self.errors,
        ):
            column.clear()
        self.flags.clear()
        self.headers.clear()
        for counts in self.counts.values():
            counts[:] = [0] * _COUNTS

    def _headers(self) -> list[Any] | None:
        if not self.headers:
            return None
        column: list[Any] = [0] * len(self.rows)
        for place, headers in self.headers.items():
            column[place] = headers
        return column

    def _counts(self) -> list[int]:
        sent = {self._only: len(self.rows)} if self._only is not None else Counter(self.nodes)
        flat = []
        for number, counts in self.counts.items():
            counts[FORWARDED] += sent.get(number, 0)
            if any(counts):
                flat += [number, *counts]
        return flat


def _one(column: list[int]) -> int | list[int]:
    """Return a column, as a single number if all are equal."""
    if column and column.count(column[0]) == len(column):
        return column[0]
    return column if column else -1


def listed(headers: tuple[Header, ...]) -> list[tuple[str, bytes | None]] | None:
    """Return headers in wire form; reject anything else."""
    for header in headers:
        if not (isinstance(header, tuple) and len(header) == 2 and isinstance(header[0], str)):
            raise TypeError(f"a header is a pair of a name and bytes: found {header!r}")
        if header[1] is not None and not isinstance(header[1], bytes):
            raise TypeError(f"a header's value is bytes or None: found {header[1]!r}; encode it")
    return list(headers) or None

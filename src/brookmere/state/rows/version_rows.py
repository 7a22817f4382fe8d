"""The versions of a table with history, found by key and time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from brookmere.state.rows.backend import Backend
from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.layout import (
    LAST_TIME,
    NUMBER,
    TIME,
    behind,
    escaped,
    number,
    time,
    time_of,
    unescaped,
)

ROWS = "rows"
_GONE, _THERE = b"\x00", b"\x01"


class VersionRow(NamedTuple):
    """A version of a key."""

    place: bytes
    """Identifies the row in a cursor."""
    key: bytes
    since: int
    until: int | None
    value: bytes


class VersionRows:
    """Versions by key and time; a version without value records a deletion.

    Versions are kept while they were valid within the history before the partition's highest timestamp.
    """

    tables = (ROWS,)

    def __init__(self, backend: Backend, *, history_ms: int | None) -> None:
        self._backend = backend
        self._history = LAST_TIME if history_ms is None else history_ms
        self.observed: dict[int, int] = {}

    def writes(self, chunk: Chunk) -> dict[str, dict[bytes, bytes | None]]:
        """Return the changes of the table, including versions that expire."""
        rows: dict[bytes, bytes | None] = {}
        own = number(chunk.partition)
        prefixes = set()
        for place, key in enumerate(chunk.keys):
            since = chunk.timestamps[place]
            if key is None or since < self._oldest(chunk.partition):
                continue
            self.observed[chunk.partition] = max(since, self.observed.get(chunk.partition, since))
            value = chunk.values[place]
            prefix = escaped(key) + own
            prefixes.add(prefix)
            rows[prefix + time(since)] = _GONE if value is None else _THERE + value
        for prefix in prefixes:
            for old in self._too_old(prefix, self._oldest(chunk.partition)):
                rows[old] = None
        return {ROWS: rows}

    def get(self, key: bytes, as_of: int | None = None) -> VersionRow | None:
        """Return the version of a key, now or as of a time.

        Before the start of the history, a version is found only if it is still the latest.
        """
        prefix = escaped(key)
        upper = behind(prefix)
        while (latest := next(self._back(prefix, upper), None)) is not None:
            upper = latest[0][:-TIME]
            found = self._valid(latest, as_of)
            if found is not None:
                return found
            # Another task may have the same key.
        return None

    def versions(
        self, key: bytes, start: int, end: int, *, reverse: bool = False, after: bytes | None = None
    ) -> Iterator[VersionRow]:
        """Iterate over the versions of a key that were valid between two times, inclusive."""
        prefix = escaped(key)
        found = self._validities(prefix, start, end)
        for row in reversed(found) if reverse else found:
            if after is None or (row.place < after if reverse else row.place > after):
                yield row

    def latest(self, *, reverse: bool = False, after: bytes | None = None) -> Iterator[VersionRow]:
        """Iterate over the latest version of each existing key, ordered by key."""
        lower, upper = b"", None
        if after is not None and reverse:
            upper = after[:-TIME]
        elif after is not None:
            lower = behind(after[:-TIME]) or after
        last: tuple[bytes, bytes] | None = None
        for place, kept in self._backend.scan(ROWS, lower, upper, reverse=reverse):
            if last is not None and last[0][:-TIME] == place[:-TIME]:
                # Backwards the latest version comes first, forwards it comes last.
                last = last if reverse else (place, kept)
                continue
            if last is not None and last[1] != _GONE:
                yield _there(last)
            last = place, kept
        if last is not None and last[1] != _GONE:
            yield _there(last)

    def count(self) -> int:
        """Return the number of keys."""
        return sum(1 for _ in self.latest())

    def estimate(self) -> int:
        """Return the estimated number of versions."""
        return self._backend.entries(ROWS)

    def _valid(self, latest: tuple[bytes, bytes], as_of: int | None) -> VersionRow | None:
        if as_of is None or time_of(latest[0][-TIME:]) <= as_of:
            return _version(*latest, until=None)
        owner = latest[0][:-TIME]
        if as_of < self._oldest(_partition(latest[0])):
            return None
        found = next(self._back(owner, owner + time(as_of) + b"\x00"), None)
        if found is None or found[1] == _GONE:
            return None
        after = next(self._backend.scan(ROWS, found[0] + b"\x00", behind(owner)), None)
        return _version(*found, until=None if after is None else time_of(after[0][-TIME:]))

    def _validities(self, prefix: bytes, start: int, end: int) -> list[VersionRow]:
        found: list[VersionRow] = []
        until: int | None = None
        owner = b""
        for place, kept in self._back(prefix, behind(prefix)):
            if place[:-TIME] != owner:
                owner, until = place[:-TIME], None
            since = time_of(place[-TIME:])
            begin = max(start, self._oldest(_partition(place))) if until is not None else start
            if since <= end and (until is None or until > begin):
                row = _version(place, kept, until=until)
                if row is not None:
                    found.append(row)
            until = since
        return found[::-1]

    def _back(self, lower: bytes, upper: bytes | None) -> Iterator[tuple[bytes, bytes]]:
        return self._backend.scan(ROWS, lower, upper, reverse=True)

    def _oldest(self, partition: int) -> int:
        return self.observed.get(partition, -LAST_TIME) - self._history

    def _too_old(self, prefix: bytes, oldest: int) -> Iterator[bytes]:
        """Iterate over the versions before the one that was valid at the oldest time."""
        before = self._backend.scan(ROWS, prefix, prefix + time(oldest) + b"\x00", reverse=True)
        next(before, None)
        return (place for place, _ in before)


def _partition(place: bytes) -> int:
    return int.from_bytes(place[-TIME - NUMBER : -TIME], "big")


def _version(place: bytes, kept: bytes, *, until: int | None) -> VersionRow | None:
    if kept == _GONE:
        return None
    return VersionRow(place, unescaped(place[: -TIME - NUMBER]), time_of(place[-TIME:]), until, kept[1:])


def _there(row: tuple[bytes, bytes]) -> VersionRow:
    return VersionRow(row[0], unescaped(row[0][: -TIME - NUMBER]), time_of(row[0][-TIME:]), None, row[1][1:])

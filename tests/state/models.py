"""Plain models of stores: dictionaries that are fed with the records of a changelog, one by one."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from brookmere.topics.partitioner import partitions_of

Found = tuple[bytes, int]
"""A value and its timestamp."""


class Change(NamedTuple):
    """A record of a changelog; `key` is without the window."""

    partition: int
    key: bytes
    timestamp: int
    value: bytes | None
    time: int = 0
    """The window's start, or the session's end."""
    start: int = 0
    """The session's start."""


class KeyModel:
    """One row per key and partition; that of the key's own partition comes first."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._rows: dict[tuple[bytes, int], Found] = {}

    def apply(self, change: Change) -> None:
        home = partitions_of(pa.array([change.key], pa.binary()), self._partitions)[0].as_py()
        place = change.key, 0 if change.partition == home else change.partition + 1
        self._rows.pop(place, None)
        if change.value is not None:
            self._rows[place] = change.value, change.timestamp

    def rows(self, lower: bytes = b"", upper: bytes | None = None) -> list[tuple[bytes, Found]]:
        """Return the rows from a key to before another, in order."""
        return [
            (key, self._rows[key, place])
            for key, place in sorted(self._rows)
            if lower <= key and (upper is None or key < upper)
        ]

    def get(self, key: bytes) -> Found | None:
        return next((found for own, found in self.rows() if own == key), None)


class TimedModel:
    """Windows or sessions, as long as the partition's own time lets them be."""

    def __init__(self, retention: int | None) -> None:
        self._retention = retention
        self._rows: dict[tuple[int, int, bytes, int], Found] = {}
        self._observed: dict[int, int] = {}

    def apply(self, change: Change) -> None:
        place = change.time, change.start, change.key, change.partition
        self._rows.pop(place, None)
        if change.value is not None:
            self._rows[place] = change.value, change.timestamp
        self._observed[change.partition] = max(change.time, self._observed.get(change.partition, -1))

    def rows(
        self, start: int = 0, end: int = 2**63 - 1, *, key: bytes | None = None
    ) -> list[tuple[bytes, int, int, Found]]:
        """Return key, time, start, and the rest, in the order of time, start, key and partition."""
        return [
            (own, time, begin, self._rows[time, begin, own, partition])
            for time, begin, own, partition in sorted(self._rows)
            if max(start, self._oldest(partition)) <= time <= end and (key is None or own == key)
        ]

    def _oldest(self, partition: int) -> int:
        if self._retention is None or partition not in self._observed:
            return 0
        return max(0, self._observed[partition] - self._retention + 1)


class VersionModel:
    """All versions that were put when they were not too old; what is too old is left out when asked."""

    def __init__(self, history: int) -> None:
        self._history = history
        self._versions: dict[tuple[bytes, int], dict[int, bytes | None]] = {}
        self._observed: dict[int, int] = {}

    def apply(self, change: Change) -> None:
        observed = self._observed.get(change.partition)
        if observed is not None and change.timestamp < observed - self._history:
            return
        latest = change.timestamp if observed is None else max(change.timestamp, observed)
        self._observed[change.partition] = latest
        self._versions.setdefault((change.key, change.partition), {})[change.timestamp] = change.value

    def versions(self, key: bytes, start: int, end: int) -> list[tuple[bytes, int, int | None]]:
        """Return value, since and until of what was valid between two times."""
        found = []
        for owner, partition in sorted(self._versions):
            if owner != key:
                continue
            times = sorted(self._versions[owner, partition])
            oldest = self._observed[partition] - self._history
            for since, until in zip(times, [*times[1:], None], strict=True):
                value = self._versions[owner, partition][since]
                begin = start if until is None else max(start, oldest)
                if value is not None and since <= end and (until is None or until > begin):
                    found.append((value, since, until))
        return found

    def get(self, key: bytes, as_of: int | None) -> list[tuple[bytes, int]]:
        """Return what the partitions have of a key; any of them is right."""
        if as_of is None:
            return self._latest(key)
        found = []
        for owner, partition in sorted(self._versions):
            versions = self._versions[owner, partition]
            since = max((time for time in versions if time <= as_of), default=None)
            if owner != key or since is None:
                continue
            value = versions[since]
            reached = as_of >= self._observed[partition] - self._history or since == max(versions)
            if value is not None and reached:
                found.append((value, since))
        return found

    def latest(self) -> list[tuple[bytes, bytes, int]]:
        """Return key, value and since of every key that is there."""
        keys = sorted({key for key, _ in self._versions})
        return [(key, value, since) for key in keys for value, since in self._latest(key)]

    def _latest(self, key: bytes) -> list[tuple[bytes, int]]:
        found = []
        for owner, partition in sorted(self._versions):
            if owner == key:
                since = max(self._versions[owner, partition])
                value = self._versions[owner, partition][since]
                if value is not None:
                    found.append((value, since))
        return found

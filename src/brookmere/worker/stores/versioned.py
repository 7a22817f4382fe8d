"""A store with the versions of each key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from brookmere.worker.stores.groups import GroupedStore
from brookmere.worker.stores.times import bound, instant

if TYPE_CHECKING:
    from brookmere.worker.stores.entries import Group, Item

LATEST_VERSION: Final = -1
"""What `put` returns for a version that none follows."""
NOT_PUT: Final = -(1 << 63)
"""What `put` returns for a version that is older than the history."""


@dataclass(frozen=True, slots=True)
class VersionedRecord:
    """A version of a value, valid from `timestamp` until just before `valid_to`; None for the latest."""

    value: Any
    timestamp: int
    valid_to: int | None = None


class VersionedStore(GroupedStore):
    """A versioned store: the values of each key, with the times from which they are valid.

    Versions that ended before the latest time less the history are not found, and nothing so old is put.
    The latest version of a key never ends.
    """

    keeps_deletions = True

    def put(self, key: Any, value: Any, timestamp: int) -> int:
        """Set the value that is valid from `timestamp` on; None deletes it.

        Returns until when it holds: the time of the next version, -1 if there is none. A version older than
        the history is not put: returns the least 64-bit number.
        """
        timestamp = instant(timestamp, "timestamp")
        group = self.group(key)
        if timestamp < self.time - self._retention:
            return NOT_PUT
        self._put(key, timestamp, 0, value)
        return next((item.time for item in group.items if item.time > timestamp), LATEST_VERSION)

    def delete(self, key: Any, timestamp: int) -> VersionedRecord | None:
        """Delete the value of a key from `timestamp` on; return the version that was valid then."""
        timestamp = instant(timestamp, "timestamp")
        if timestamp < self.time - self._retention:
            return None
        before = self.get(key, timestamp)
        self.put(key, None, timestamp)
        return before

    def get(self, key: Any, as_of: int | None = None) -> VersionedRecord | None:
        """Return the latest version of a key, or the one that held at `as_of`; None if there is none."""
        if as_of is not None:
            as_of = bound(as_of, "as_of")
        items = self.group(key).items
        if not items:
            return None
        latest = items[-1]
        if as_of is None or latest.time <= as_of:
            return self._version(latest, None)
        if as_of < self.time - self._retention:
            return None
        after = latest
        for item in reversed(items):
            if item.time <= as_of:
                return self._version(item, after.time)
            after = item
        return None

    def _version(self, item: Item, valid_to: int | None) -> VersionedRecord | None:
        return None if item.value is None else VersionedRecord(self._read(item.value), item.time, valid_to)

    def _compact(self, group: Group, oldest: int) -> None:
        """Keep the versions that are valid at the oldest time that can be queried, or later."""
        items = group.items
        first = 0
        while first + 1 < len(items) and items[first + 1].time < oldest:
            first += 1
        del items[:first]

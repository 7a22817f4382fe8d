"""A session store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brookmere.record import WindowedKey
from brookmere.worker.stores.groups import GroupedStore
from brookmere.worker.stores.times import EARLIEST, LATEST, bound, instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brookmere.worker.stores.entries import Item


class SessionStore(GroupedStore):
    """A session store: values by key, start and end of a session, both included.

    What ends before the latest end less the retention is not found, and not put.
    Rows are kept by the end of the session; its start is their number.
    """

    def put(self, session: WindowedKey, value: Any) -> None:
        """Set the value of a session; None removes it."""
        _checked(session, self.name)
        self._put(session.key, session.end, session.start, value)

    def remove(self, session: WindowedKey) -> None:
        """Remove a session."""
        self.put(session, None)

    def fetch_session(self, key: Any, start: int, end: int) -> Any:
        """Return the value of one session, None if there is none."""
        item = self.find(self.group(key), bound(end, "end"), bound(start, "start"))
        if item is None or item.value is None or end < self.oldest:
            return None
        return self._read(item.value)

    def find_sessions(
        self, key: Any, earliest_end: int, latest_start: int
    ) -> Iterator[tuple[WindowedKey, Any]]:
        """Return sessions of a key that end at `earliest_end` or later, and start by `latest_start`."""
        return self._shown(self._found(key, earliest_end, latest_start))

    def backward_find_sessions(
        self, key: Any, earliest_end: int, latest_start: int
    ) -> Iterator[tuple[WindowedKey, Any]]:
        """Return sessions of a key, the latest first."""
        return self._shown(self._found(key, earliest_end, latest_start)[::-1])

    def fetch(self, key: Any) -> Iterator[tuple[WindowedKey, Any]]:
        """Return all sessions of a key."""
        return self.find_sessions(key, EARLIEST, LATEST)

    def backward_fetch(self, key: Any) -> Iterator[tuple[WindowedKey, Any]]:
        """Return all sessions of a key, the latest first."""
        return self.backward_find_sessions(key, EARLIEST, LATEST)

    def fetch_range(self, lower: Any, upper: Any) -> Iterator[tuple[WindowedKey, Any]]:
        """Return all sessions of the keys from `lower` to `upper`; None leaves an end open."""
        return self._scanned(*self._of_range(lower, upper), reverse=False)

    def backward_fetch_range(self, lower: Any, upper: Any) -> Iterator[tuple[WindowedKey, Any]]:
        """Return all sessions of a range of keys, the last first."""
        return self._scanned(*self._of_range(lower, upper), reverse=True)

    def _found(self, key: Any, earliest_end: int, latest_start: int) -> list[Item]:
        earliest_end, latest_start = bound(earliest_end, "earliest_end"), bound(latest_start, "latest_start")
        return [item for item in self._between(key, earliest_end, LATEST) if item.number <= latest_start]

    def _shown(self, items: list[Item]) -> Iterator[tuple[WindowedKey, Any]]:
        return iter(
            [(WindowedKey(item.group.key, item.number, item.time), self._read(item.value)) for item in items]
        )

    def _scanned(self, lower: Any, upper: Any, *, reverse: bool) -> Iterator[tuple[WindowedKey, Any]]:
        keys, ends, starts, values, _ = self.scan(max(0, self.oldest), LATEST, lower, upper, reverse=reverse)
        return (
            (WindowedKey(self._read_key(key), start, end), self._read(value))
            for key, end, start, value in zip(keys, ends, starts, values, strict=True)
        )


def _checked(session: Any, store: str) -> None:
    if not isinstance(session, WindowedKey):
        found = type(session).__name__
        raise TypeError(
            f"the store {store!r} keeps sessions: found {found}; give a WindowedKey(key, start, end)"
        )
    instant(session.start, "the start of a session")
    instant(session.end, "the end of a session")

"""A window store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from brookmere.record import WindowedKey
from brookmere.worker.stores.groups import GroupedStore
from brookmere.worker.stores.times import EARLIEST, LATEST, bound, instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brookmere.worker.stores.entries import Item


class WindowStore(GroupedStore):
    """A window store: values by key and start of a window, in milliseconds since 1970.

    What starts before the latest start less the retention is not found, and not put.
    Iterators show the store as it was when they were asked for.
    """

    def put(self, key: Any, value: Any, start: int) -> None:
        """Set the value of a key in the window that starts at `start`; None removes it."""
        self._put(key, instant(start, "start"), 0, value)

    @overload
    def fetch(self, key: Any, start: int) -> Any: ...

    @overload
    def fetch(self, key: Any, start: int, to: int) -> Iterator[tuple[int, Any]]: ...

    def fetch(self, key: Any, start: int, to: int | None = None) -> Any:
        """Return the value of one window; with `to` the starts and values of all from `start` to `to`."""
        if to is not None:
            return iter([(item.time, self._read(item.value)) for item in self._windows(key, start, to)])
        start = instant(start, "start")
        item = self.find(self.group(key), start, 0)
        if item is None or item.value is None or start < self.oldest:
            return None
        return self._read(item.value)

    def backward_fetch(self, key: Any, start: int, to: int) -> Iterator[tuple[int, Any]]:
        """Return the starts and values of windows of a key, the latest first."""
        return iter([(item.time, self._read(item.value)) for item in reversed(self._windows(key, start, to))])

    def fetch_range(self, lower: Any, upper: Any, start: int, to: int) -> Iterator[tuple[WindowedKey, Any]]:
        """Return the windows of the keys from `lower` to `upper` that start from `start` to `to`."""
        return self._scanned(start, to, *self._of_range(lower, upper), reverse=False)

    def backward_fetch_range(
        self, lower: Any, upper: Any, start: int, to: int
    ) -> Iterator[tuple[WindowedKey, Any]]:
        """Return the windows of a range of keys, the last first."""
        return self._scanned(start, to, *self._of_range(lower, upper), reverse=True)

    def fetch_all(self, start: int, to: int) -> Iterator[tuple[WindowedKey, Any]]:
        """Return the windows of all keys that start from `start` to `to`."""
        return self._scanned(start, to, None, None, reverse=False)

    def backward_fetch_all(self, start: int, to: int) -> Iterator[tuple[WindowedKey, Any]]:
        """Return the windows of all keys that start from `start` to `to`, the last first."""
        return self._scanned(start, to, None, None, reverse=True)

    def all(self) -> Iterator[tuple[WindowedKey, Any]]:
        """Return all windows."""
        return self._scanned(EARLIEST, LATEST, None, None, reverse=False)

    def backward_all(self) -> Iterator[tuple[WindowedKey, Any]]:
        """Return all windows, the last first."""
        return self._scanned(EARLIEST, LATEST, None, None, reverse=True)

    def _windows(self, key: Any, start: int, to: int) -> list[Item]:
        return self._between(key, bound(start, "start"), bound(to, "to"))

    def _scanned(
        self, start: int, to: int, lower: Any, upper: Any, *, reverse: bool
    ) -> Iterator[tuple[WindowedKey, Any]]:
        low, high = max(bound(start, "start"), self.oldest, 0), bound(to, "to")
        if low > high:
            return iter(())
        keys, starts, _, values, _ = self.scan(low, high, lower, upper, reverse=reverse)
        size = LATEST if self.code.window_ms is None else self.code.window_ms
        return (
            (WindowedKey(self._read_key(key), start, min(start + size, LATEST)), self._read(value))
            for key, start, value in zip(keys, starts, values, strict=True)
        )

"""The methods of key-value stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from brookmere.worker.stores.store import CachedStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Cached = TypeVar("Cached")


class KeyValueStore(CachedStore[Cached]):
    """A key-value store. What user code does to a value that it got changes nothing until it is put.

    Iterators show the store as it was when they were asked for, in the order of the serialised keys.
    """

    def get(self, key: Any) -> Any:
        """Return the value of a key, None if there is none."""
        raise NotImplementedError

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key; None deletes it."""
        raise NotImplementedError

    def put_if_absent(self, key: Any, value: Any) -> Any:
        """Set the value of a key that has none; return the value it had."""
        before = self.get(key)
        if before is None:
            self.put(key, value)
        return before

    def put_all(self, entries: Iterable[tuple[Any, Any]]) -> None:
        """Set the values of several keys, given as pairs."""
        for key, value in entries:
            self.put(key, value)

    def delete(self, key: Any) -> Any:
        """Remove a key; return the value it had."""
        before = self.get(key)
        if before is not None:
            self.put(key, None)
        return before

    def range(self, lower: Any, upper: Any) -> Iterator[tuple[Any, Any]]:
        """Return keys and values from `lower` to `upper`, both included; None leaves an end open."""
        return self._scan(*self._of_range(lower, upper), None, False)

    def reverse_range(self, lower: Any, upper: Any) -> Iterator[tuple[Any, Any]]:
        """Return keys and values of a range, the last key first."""
        return self._scan(*self._of_range(lower, upper), None, True)

    def prefix_scan(self, prefix: Any) -> Iterator[tuple[Any, Any]]:
        """Return keys and values whose serialised key begins with a prefix, a text or bytes."""
        if prefix is None:
            raise ValueError(f"prefix_scan of the store {self.name!r} needs a prefix; use all() for all keys")
        beginning = prefix if type(prefix) in (str, bytes) else self._send_key(prefix)
        return self._scan(None, None, beginning, False)

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Return all keys and values."""
        return self._scan(None, None, None, False)

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """Return all keys and values, the last key first."""
        return self._scan(None, None, None, True)

    def approximate_num_entries(self) -> int:
        """Return about how many keys there are in this task."""
        return int(self._keeper.ask("count", self.number))

    def _scan(self, lower: Any, upper: Any, prefix: Any, is_reverse: bool) -> Iterator[tuple[Any, Any]]:
        keys, values, _ = self._keeper.ask("scan", self.number, lower, upper, prefix, is_reverse)
        return zip(map(self._read_key, keys), map(self._read, values), strict=True)

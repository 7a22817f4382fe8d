"""Turns a store that others write into one that can only be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from brookmere.worker.stores.key_value import KeyValueStore

_WRITES = frozenset(("put", "put_if_absent", "put_all", "delete"))


class ReadOnlyStore:
    """The store of a table. Its rows change by the records of the table only."""

    def __init__(self, store: KeyValueStore) -> None:
        self.name = store.name
        self._store = store
        self.get = store.get

    def range(self, lower: Any, upper: Any) -> Iterator[tuple[Any, Any]]:
        """Return keys and values from `lower` to `upper`, both included; None leaves an end open."""
        return self._store.range(lower, upper)

    def reverse_range(self, lower: Any, upper: Any) -> Iterator[tuple[Any, Any]]:
        """Return keys and values of a range, the last key first."""
        return self._store.reverse_range(lower, upper)

    def prefix_scan(self, prefix: Any) -> Iterator[tuple[Any, Any]]:
        """Return keys and values whose serialised key begins with a prefix."""
        return self._store.prefix_scan(prefix)

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Return all keys and values."""
        return self._store.all()

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """Return all keys and values, the last key first."""
        return self._store.reverse_all()

    def approximate_num_entries(self) -> int:
        """Return about how many keys there are in this task."""
        return self._store.approximate_num_entries()

    def __getattr__(self, name: str) -> Any:
        if name in _WRITES:
            raise AttributeError(
                f"the store {self.name!r} belongs to a table and can only be read: found {name}(); "
                "write to the topic of the table, or keep a store of your own"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

"""A read-only view of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brookmere.worker.stores.open import Store

_WRITES = frozenset(("put", "put_if_absent", "put_all", "delete", "remove"))


class ReadOnlyStore:
    """The store of a table. Processors can read it; only the records of the table change it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def behind(self) -> Store:
        """The store itself, for the node that writes it."""
        return self._store

    def __getattr__(self, name: str) -> Any:
        if name in _WRITES and hasattr(self._store, name):
            raise AttributeError(
                f"the store {self._store.name!r} belongs to a table and can only be read: found {name}(); "
                "write to the topic of the table, or keep a store of your own"
            )
        return getattr(self._store, name)

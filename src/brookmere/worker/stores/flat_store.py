"""A key-value store for scalars: a dict of values and a dict of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from brookmere.worker.stores.key_value import KeyValueStore

if TYPE_CHECKING:
    from brookmere.worker.protocol.stage_code import StoreCode
    from brookmere.worker.stores.store import Keeper

_UNKNOWN: Final[Any] = object()


class FlatStore(KeyValueStore[Any]):
    """A key-value store whose keys and values are the same on the wire, for processors only."""

    def __init__(self, code: StoreCode, number: int, keeper: Keeper) -> None:
        super().__init__(code, number, keeper)
        # The times of keys that changed since the last message to the JVM.
        self._dirty: dict[Any, int] = {}

    def get(self, key: Any) -> Any:
        """Return the value of a key, None if there is none."""
        # True and 1.0 equal 1 but are not valid keys, so they are rejected whether or not the row is cached.
        value = self._known.get(key, _UNKNOWN) if key.__class__ is self._plain else _UNKNOWN
        return value if value is not _UNKNOWN else self._load(key)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key; None deletes it."""
        # An instance of a subclass of str or int equals a plain one, but cannot be sent.
        if key.__class__ is not self._plain or key not in self._known:
            key = self._wire(key)
        self._known[key] = self._send(value)
        self._dirty[key] = self._row.timestamp

    def changes(self) -> tuple[Any, ...] | None:
        """Return the changes since the last message to the JVM."""
        dirty = self._dirty
        if not dirty:
            return None
        keys = list(dirty)
        values = list(map(self._known.__getitem__, keys))
        times = list(dirty.values())
        dirty.clear()
        return self.number, keys, values, times

    def settle(self) -> None:
        """Evict keys from a full cache."""
        self._shrink(lambda value: value)

    def _load(self, key: Any) -> Any:
        wire = self._wire(key)
        if wire in self._known:
            return self._known[wire]
        keys = self._missing(key, wire, wire)
        found = self._keeper.ask("get", self.number, keys)
        self._known.update(zip(keys, [row and row[0] for row in found], strict=True))
        return self._known[wire]

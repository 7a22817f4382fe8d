"""A key-value store for all types, whose rows are entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brookmere.worker.stores.entries import Entry
from brookmere.worker.stores.key_value import KeyValueStore

if TYPE_CHECKING:
    from brookmere.worker.protocol.stage_code import StoreCode
    from brookmere.worker.stores.store import Keeper


class EntryStore(KeyValueStore[Entry]):
    """A key-value store whose rows are entries."""

    def __init__(self, code: StoreCode, number: int, keeper: Keeper) -> None:
        super().__init__(code, number, keeper)
        # In the order of their first change since the last message to the JVM.
        self._dirty: dict[Entry, None] = {}
        self._changed: list[Entry] = []

    def get(self, key: Any) -> Any:
        """Return the value of a key, None if there is none."""
        return self._read(self.entry(key).value)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key; None deletes it."""
        entry = self._known.get(key) if key.__class__ is self._plain else None
        if entry is None:
            entry = self._place_of(key)
        entry.value = self._send(value)
        entry.ts = self._row.timestamp
        self._dirty[entry] = None

    def entry(self, key: Any) -> Entry:
        """Return the row of a key; ask the JVM for it if it is not cached. Values are in wire form."""
        if key.__class__ is self._plain and (known := self._known.get(key)) is not None:
            return known
        wire = self._wire(key)
        place = self._place(wire)
        return self._known.get(place) or self._load(key, wire, place)

    def change(self, entry: Entry, value: Any, ts: int) -> None:
        """Set the value of a row, in wire form, and remember the value from before the batch."""
        if not entry.changed:
            entry.changed = True
            entry.old = entry.value
            self._changed.append(entry)
        entry.value = value
        entry.ts = ts
        self._dirty[entry] = None

    def changes(self) -> tuple[Any, ...] | None:
        """Return the changes since the last message to the JVM, in wire form."""
        dirty = self._dirty
        if not dirty:
            return None
        send = self._send_key
        keys = [send(entry.key) for entry in dirty]
        values = [entry.value for entry in dirty]
        times = [entry.ts for entry in dirty]
        dirty.clear()
        return self.number, keys, values, times

    def settle(self) -> None:
        """Forget the values from before the batch, and evict keys from a full cache."""
        for entry in self._changed:
            entry.changed = False
            entry.old = None
        self._changed.clear()
        self._shrink(lambda entry: entry.value)

    def _place_of(self, key: Any) -> Entry:
        """Return the row of a key to write it; the JVM is not asked for its value."""
        wire = self._wire(key)
        place = self._place(wire)
        entry = self._known.get(place)
        if entry is None:
            # User code may change its key; the store keeps a copy.
            entry = self._known[place] = Entry(self._read_key(wire), None, -1)
        return entry

    def _load(self, key: Any, wire: Any, place: Any) -> Entry:
        wires = self._missing(key, wire, place)
        for one, found in zip(wires, self._keeper.ask("get", self.number, wires), strict=True):
            value, ts = found or (None, -1)
            self._known[self._place(one)] = Entry(self._read_key(one), value, ts)
        return self._known[place]

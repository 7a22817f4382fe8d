"""Turns rows, one per key, into a key-value store of any types, and into entries that aggregates change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brookmere.worker.stores.entries import Entry
from brookmere.worker.stores.key_value import KeyValueStore

if TYPE_CHECKING:
    from brookmere.worker.protocol.stage_code import StoreCode
    from brookmere.worker.stores.store import Keeper


class EntryStore(KeyValueStore[Entry]):
    """A key-value store that knows its rows as entries."""

    def __init__(self, code: StoreCode, number: int, keeper: Keeper) -> None:
        super().__init__(code, number, keeper)
        # In the order of their first change since the JVM was told.
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
        """Return what is known of a key, after asking for it if need be. Values are those of the wire."""
        if key.__class__ is self._plain and (known := self._known.get(key)) is not None:
            return known
        wire = self._wire(key)
        place = self._place(wire)
        return self._known.get(place) or self._load(key, wire, place)

    def change(self, entry: Entry, value: Any, ts: int) -> None:
        """Set the value of an entry, given as on the wire, and remember what it was before the batch."""
        if not entry.changed:
            entry.changed = True
            entry.old = entry.value
            self._changed.append(entry)
        entry.value = value
        entry.ts = ts
        self._dirty[entry] = None

    def changes(self) -> tuple[Any, ...] | None:
        """Return what the JVM does not know yet, in the form of the wire."""
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
        """Forget what the entries were before, and keys that are too many."""
        for entry in self._changed:
            entry.changed = False
            entry.old = None
        self._changed.clear()
        self._shrink(lambda entry: entry.value)

    def _place_of(self, key: Any) -> Entry:
        """Return the entry of a key for writing only: nothing is asked for."""
        wire = self._wire(key)
        place = self._place(wire)
        entry = self._known.get(place)
        if entry is None:
            # The key is kept apart from what user code may do to it.
            entry = self._known[place] = Entry(self._read_key(wire), None, -1)
        return entry

    def _load(self, key: Any, wire: Any, place: Any) -> Entry:
        wires = self._missing(key, wire, place)
        for one, found in zip(wires, self._keeper.ask("get", self.number, wires), strict=True):
            value, ts = found or (None, -1)
            self._known[self._place(one)] = Entry(self._read_key(one), value, ts)
        return self._known[place]

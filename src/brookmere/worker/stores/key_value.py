"""Turns the rows of a task, one per key, into a key-value store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brookmere.worker.stores.entries import Entry
from brookmere.worker.stores.store import CachedStore, is_scalar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from brookmere.worker.code import StoreCode
    from brookmere.worker.stores.store import Keeper


class KeyValueStore(CachedStore[Entry]):
    """A key-value store. What user code does to a value that it got changes nothing until it is put.

    Iterators show the store as it was when they were asked for, in the order of the serialised keys.
    """

    def __init__(self, code: StoreCode, number: int, keeper: Keeper) -> None:
        super().__init__(code, number, keeper)
        self._dirty: list[Entry] = []
        self._changed: list[Entry] = []

    # Kafka Streams' methods

    def get(self, key: Any) -> Any:
        """Return the value of a key, None if there is none."""
        value = self.entry(key).value
        return None if value is None else self._read(value)

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key; None deletes it."""
        wire = self._wire(key)
        entry = self._known.get(self._place(wire)) or self._add(wire, key, None, -1)
        self._set(entry, self._send(value), self._row.timestamp)

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
        return self._scan(None, None, prefix, False)

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Return all keys and values."""
        return self._scan(None, None, None, False)

    def reverse_all(self) -> Iterator[tuple[Any, Any]]:
        """Return all keys and values, the last key first."""
        return self._scan(None, None, None, True)

    def approximate_num_entries(self) -> int:
        """Return about how many keys there are in this task."""
        return int(self._keeper.ask("count", self.number))

    # What aggregates and the task use

    def entry(self, key: Any) -> Entry:
        """Return what is known of a key, after asking for it if need be. Values are those of the wire."""
        wire = self._wire(key)
        place = self._place(wire)
        return self._known.get(place) or self._load(key, wire, place)

    def change(self, entry: Entry, value: Any, ts: int) -> None:
        """Set the value of an entry, given as on the wire, and remember what it was before the batch."""
        if not entry.changed:
            entry.changed = True
            entry.old = entry.value
            self._changed.append(entry)
        self._set(entry, value, ts)

    def changes(self) -> tuple[Any, ...] | None:
        """Return what the JVM does not know yet, in the form of the wire."""
        dirty = self._dirty
        if not dirty:
            return None
        send = self._send_key
        keys, values, times = [], [], []
        for entry in dirty:
            entry.dirty = False
            keys.append(send(entry.key))
            values.append(entry.value)
            times.append(entry.ts)
        dirty.clear()
        return self.number, keys, values, times

    def end_batch(self) -> None:
        """Forget what the entries were before, and keys that are too many."""
        for entry in self._changed:
            entry.changed = False
            entry.old = entry.headers = entry.pending = None
        self._changed.clear()
        self._shrink(lambda entry: entry.value)

    def _set(self, entry: Entry, value: Any, ts: int) -> None:
        entry.value = value
        entry.ts = ts
        if not entry.dirty:
            entry.dirty = True
            self._dirty.append(entry)

    def _add(self, wire: Any, key: Any, value: Any, ts: int) -> Entry:
        entry = self._known[self._place(wire)] = Entry(key, value, ts)
        return entry

    def _load(self, key: Any, wire: Any, place: Any) -> Entry:
        wires = self._missing(key, wire, place)
        for one, found in zip(wires, self._keeper.ask("get", self.number, wires), strict=True):
            value, ts = found or (None, -1)
            self._add(one, self._read_key(one), value, ts)
        return self._known[place]

    def _scan(self, lower: Any, upper: Any, prefix: Any, is_reverse: bool) -> Iterator[tuple[Any, Any]]:
        keys, values, _ = self._keeper.ask("scan", self.number, lower, upper, prefix, is_reverse)
        return zip(map(self._read_key, keys), map(self._read, values), strict=True)


class ScalarKeyValueStore(KeyValueStore):
    """A key-value store whose keys and values need no conversion: a get is one look into a dict."""

    def get(self, key: Any) -> Any:
        """Return the value of a key, None if there is none."""
        entry = self._known.get(key)
        return entry.value if entry is not None else self.entry(key).value

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key; None deletes it."""
        entry = self._known.get(key)
        if entry is None:
            wire = self._wire(key)
            entry = self._add(wire, wire, None, -1)
        entry.value = self._send(value)
        entry.ts = self._row.timestamp
        if not entry.dirty:
            entry.dirty = True
            self._dirty.append(entry)


def key_value_store(code: StoreCode, number: int, keeper: Keeper) -> KeyValueStore:
    """Return the store for the types of its keys and values."""
    kind = ScalarKeyValueStore if is_scalar(code.key) and is_scalar(code.value) else KeyValueStore
    return kind(code, number, keeper)

"""Stores with several rows per key, ordered by time: windows, sessions, versions."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from brookmere.worker.stores.entries import Group, Item
from brookmere.worker.stores.store import CachedStore

if TYPE_CHECKING:
    from brookmere.worker.protocol.stage_code import StoreCode
    from brookmere.worker.stores.store import Keeper

_FOREVER = 1 << 63


class GroupedStore(CachedStore[Group]):
    """A store with several rows per key. `time` is the latest time put into it.

    Rows that are older than the retention, seen from there, cannot be found any more.
    """

    keeps_deletions = False
    """A row without a value is a deletion from its time on."""

    def __init__(self, code: StoreCode, number: int, keeper: Keeper) -> None:
        super().__init__(code, number, keeper)
        self.time = -1
        self._retention = _FOREVER if code.retention_ms is None else code.retention_ms
        # In the order of their first change since the last message to the JVM.
        self._dirty: dict[Item, None] = {}
        self._changed: list[Item] = []

    @property
    def oldest(self) -> int:
        """Rows before this time have expired."""
        return self.time - self._retention + 1

    def group(self, key: Any) -> Group:
        """Return the rows of a key; ask the JVM for them if they are not cached. Values are in wire form."""
        if key.__class__ is self._plain and (known := self._known.get(key)) is not None:
            return known
        wire = self._wire(key)
        place = self._place(wire)
        return self._known.get(place) or self._load(key, wire, place)

    def find(self, group: Group, time: int, number: int) -> Item | None:
        """Return the row of a time and number, even if it is removed; None if there is none."""
        items = group.items
        at = _position(items, time, number)
        if at < len(items) and items[at].time == time and items[at].number == number:
            return items[at]
        return None

    def add(self, group: Group, time: int, number: int) -> Item:
        """Add a row. It has no value until `change`."""
        item = Item(group, time, number, None, -1)
        group.items.insert(_position(group.items, time, number), item)
        return item

    def change(self, item: Item, value: Any, ts: int) -> None:
        """Set the value of a row, in wire form, and remember the value from before the batch."""
        if not item.changed:
            item.changed = True
            item.old = item.value
            self._changed.append(item)
        item.value = value
        item.ts = ts
        self._dirty[item] = None
        if item.time > self.time:
            self.time = item.time

    def changes(self) -> tuple[Any, ...] | None:
        """Return the changes since the last message to the JVM, in wire form."""
        dirty = self._dirty
        if not dirty:
            return None
        send = self._send_key
        keys = [send(item.group.key) for item in dirty]
        starts = [item.time for item in dirty]
        numbers = [item.number for item in dirty]
        values = [item.value for item in dirty]
        times = [item.ts for item in dirty]
        dirty.clear()
        return self.number, keys, starts, numbers, values, times

    def settle(self) -> None:
        """Forget the values from before the batch and removed rows, and evict keys from a full cache."""
        oldest = self.oldest
        touched = {id(item.group): item.group for item in self._changed}
        for item in self._changed:
            item.changed = False
            item.old = None
        self._changed.clear()
        for group in touched.values():
            self._compact(group, oldest)
        self._shrink(lambda group: [item.value for item in group.items])

    def _compact(self, group: Group, oldest: int) -> None:
        group.items = [item for item in group.items if item.value is not None and item.time >= oldest]

    def _put(self, key: Any, time: int, number: int, value: Any) -> None:
        """Set the value of a row; None removes it. The store's time advances in any case."""
        wire = self._send(value)
        group = self.group(key)
        is_later = time > self.time
        self.time = max(self.time, time)
        if time < self.oldest and not self.keeps_deletions:
            return
        item = self.find(group, time, number)
        if item is None:
            # The JVM learns the time from what is put, so it also needs a removal that removes nothing.
            if wire is None and not is_later and not self.keeps_deletions:
                return
            item = self.add(group, time, number)
        self.change(item, wire, self._row.timestamp)

    def _between(self, key: Any, low: int, high: int) -> list[Item]:
        """Return the rows of a key from one time to another, both included."""
        items = self.group(key).items
        low = max(low, self.oldest)
        return [item for item in items if low <= item.time <= high and item.value is not None]

    def _load(self, key: Any, wire: Any, place: Any) -> Group:
        wires = self._missing(key, wire, place)
        for one, rows in zip(wires, self._keeper.ask("get", self.number, wires), strict=True):
            group = Group(self._read_key(one))
            group.items = [Item(group, *row) for row in rows or ()]
            self._known[self._place(one)] = group
        return self._known[place]

    def scan(
        self,
        low: int,
        high: int,
        lower: Any = None,
        upper: Any = None,
        *,
        reverse: bool = False,
    ) -> tuple[list[Any], list[int], list[int], list[Any], list[int]]:
        """Return keys, times, numbers, values and timestamps of rows of many keys, in wire form."""
        answer = self._keeper.ask("scan_times", self.number, low, high, lower, upper, reverse)
        keys, times, numbers, values, stamps = answer
        return keys, times, numbers, values, stamps


def _position(items: list[Item], time: int, number: int) -> int:
    if not items:
        return 0
    # Most rows arrive in order.
    last = items[-1]
    if last.time < time or (last.time == time and last.number < number):
        return len(items)
    return bisect_left(items, (time, number), key=_order)


def _order(item: Item) -> tuple[int, int]:
    return item.time, item.number

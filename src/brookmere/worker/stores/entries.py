"""The rows of stores: one per key, or several per key, ordered by time.

Values are in wire form and are never changed in place.
"""

from __future__ import annotations

from typing import Any


class Entry:
    """The row of a key; `value` is None if it has none. `changed`: it changed in this batch, from `old`."""

    __slots__ = ("changed", "key", "old", "ts", "value")

    def __init__(self, key: Any, value: Any, ts: int) -> None:
        self.key = key
        self.value = value
        self.ts = ts
        self.old: Any = None
        self.changed = False


class Group:
    """The rows of a key, ordered by time, then by number. `items` includes removed rows."""

    __slots__ = ("items", "key")

    def __init__(self, key: Any) -> None:
        self.key = key
        self.items: list[Item] = []


class Item:
    """A row of a group."""

    __slots__ = ("changed", "group", "number", "old", "time", "ts", "value")

    def __init__(self, group: Group, time: int, number: int, value: Any, ts: int) -> None:
        self.group = group
        self.time = time
        self.number = number
        self.value = value
        self.ts = ts
        self.old: Any = None
        self.changed = False

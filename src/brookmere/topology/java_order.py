"""The order in which Java's hash and tree collections iterate over names.

Kafka Streams' topology text shows these orders, so the text can only be the same if they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

_SMALLEST_TABLE = 16


def string_hash(text: str) -> int:
    """Return `String.hashCode` as an unsigned number.

    >>> string_hash("polygenelubricants")
    2147483648
    """
    data = text.encode("utf-16-be")
    result = 0
    for at in range(0, len(data), 2):
        result = (31 * result + (data[at] << 8 | data[at + 1])) & 0xFFFFFFFF
    return result


def grown_order(names: Iterable[str]) -> list[str]:
    """Return the order of a HashSet or HashMap to which the names were added one by one."""
    unique = list(dict.fromkeys(names))
    table = _SMALLEST_TABLE
    while len(unique) * 4 > table * 3:
        table *= 2
    return _by_bucket(unique, table)


def copied_order(names: Iterable[str]) -> list[str]:
    """Return the order of a HashSet that was made from a collection of the names at once."""
    unique = list(dict.fromkeys(names))
    table = _SMALLEST_TABLE
    while table < len(unique) * 4 // 3 + 1:
        table *= 2
    return _by_bucket(unique, table)


def _by_bucket(names: list[str], table: int) -> list[str]:
    def bucket(name: str) -> int:
        code = string_hash(name)
        return (code ^ code >> 16) & table - 1

    return sorted(names, key=bucket)


@dataclass(slots=True, eq=False)
class _Entry(Generic[T]):
    item: T
    parent: _Entry[T] | None = None
    left: _Entry[T] | None = None
    right: _Entry[T] | None = None
    red: bool = False


class Tree(Generic[T]):
    """A TreeSet that only grows.

    A sorted list would not do: the items change their rank after they were added, so the
    place of a new one depends on the shape of the red-black tree at that moment.
    """

    def __init__(self, compare: Callable[[T, T], int]) -> None:
        self._compare = compare
        self._root: _Entry[T] | None = None

    def add(self, item: T) -> None:
        """Add `item` unless it compares equal to one that is met on the way down."""
        parent, at = None, self._root
        order = 0
        while at is not None:
            parent = at
            order = self._compare(item, at.item)
            if order == 0:
                return
            at = at.left if order < 0 else at.right
        entry = _Entry(item, parent, red=True)
        if parent is None:
            self._root = entry
        elif order < 0:
            parent.left = entry
        else:
            parent.right = entry
        self._rebalance(entry)

    def __iter__(self) -> Iterator[T]:
        path: list[_Entry[T]] = []
        at = self._root
        while path or at is not None:
            while at is not None:
                path.append(at)
                at = at.left
            entry = path.pop()
            yield entry.item
            at = entry.right

    def _rebalance(self, entry: _Entry[T]) -> None:
        while (parent := entry.parent) is not None and parent.red:
            grandparent = parent.parent
            if grandparent is None:
                break
            on_left = parent is grandparent.left
            uncle = grandparent.right if on_left else grandparent.left
            if uncle is not None and uncle.red:
                parent.red = uncle.red = False
                grandparent.red = True
                entry = grandparent
                continue
            if entry is (parent.right if on_left else parent.left):
                self._rotate(parent, to_left=on_left)
                entry, parent = parent, entry
            parent.red = False
            grandparent.red = True
            self._rotate(grandparent, to_left=not on_left)
        if self._root is not None:
            self._root.red = False

    def _rotate(self, entry: _Entry[T], *, to_left: bool) -> None:
        pivot = entry.right if to_left else entry.left
        if pivot is None:
            return
        inner = pivot.left if to_left else pivot.right
        if to_left:
            entry.right, pivot.left = inner, entry
        else:
            entry.left, pivot.right = inner, entry
        if inner is not None:
            inner.parent = entry
        pivot.parent, above = entry.parent, entry.parent
        entry.parent = pivot
        if above is None:
            self._root = pivot
        elif above.left is entry:
            above.left = pivot
        else:
            above.right = pivot

"""A test's view of a state store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, is_dataclass
from typing import Any

from brookmere.errors import UnsupportedError
from brookmere.testing.engines import StoreRow
from brookmere.testing.visible_values import Visible


class StoreView:
    """The rows of a store, read again on each call."""

    def __init__(
        self,
        name: str,
        read: Callable[[], list[StoreRow]],
        *,
        visible: Visible = lambda value: value,
        look: Callable[[Any, int], tuple[Any, int] | None] | None = None,
    ) -> None:
        self.name = name
        self._read = read
        self._visible = visible
        self._look = look

    def rows(self) -> list[StoreRow]:
        """Return (key, value, timestamp) of every row."""
        return [(key, self._visible(value), time) for key, value, time in self._read()]

    def all(self) -> list[tuple[Any, Any]]:
        """Return (key, value) of every row."""
        return [(key, value) for key, value, _ in self.rows()]

    def get(self, key: Any) -> Any:
        """Return the value of a key, or None."""
        found = self.get_with_timestamp(key)
        return None if found is None else found[0]

    def get_with_timestamp(self, key: Any) -> tuple[Any, int] | None:
        """Return (value, timestamp) of a key, or None. The key may be a dataclass or a WindowedKey."""
        wanted = asdict(key) if is_dataclass(key) and not isinstance(key, type) else key
        return next(((value, time) for k, value, time in self.rows() if k == wanted), None)

    def get_as_of(self, key: Any, time: int) -> tuple[Any, int] | None:
        """Return (value, timestamp) that a key of a table with history had at `time`, or None."""
        if self._look is None:
            raise UnsupportedError(f"Store {self.name!r} has no history. Give its table history=.")
        return self._look(key, time)

    def __len__(self) -> int:
        return len(self._read())


def latest(versions: Iterable[StoreRow]) -> list[StoreRow]:
    """Return the last version of each key that is not deleted; a version without a value is a deletion."""
    last: dict[str, StoreRow] = {}
    for row in sorted(versions, key=lambda row: row[2]):
        last[repr(row[0])] = row
    return [row for row in last.values() if row[1] is not None]


def as_of(versions: list[StoreRow], history_ms: int, key: Any, time: int) -> tuple[Any, int] | None:
    """Return value and time of the version that `key` had at `time`, or None.

    Beyond the history, a version is found only if it is still the latest.
    """
    now = max((row[2] for row in versions), default=0)
    own = latest(versions) if time < now - history_ms else versions
    found = [row for row in own if row[0] == key and row[2] <= time]
    if not found:
        return None
    _, value, since = max(found, key=lambda row: row[2])
    return None if value is None else (value, since)

"""A test's view of a state store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from typing import Any

from brookmere.errors import UnsupportedError
from brookmere.testing.engines import StoreRow
from brookmere.testing.visible import Visible


class StoreView:
    """The rows of a store, read anew at each call."""

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
        """Return (value, timestamp) of a key, or None. A dataclass or WindowedKey stands for its fields."""
        wanted = asdict(key) if is_dataclass(key) and not isinstance(key, type) else key
        return next(((value, time) for k, value, time in self.rows() if k == wanted), None)

    def get_as_of(self, key: Any, time: int) -> tuple[Any, int] | None:
        """Return (value, timestamp) that a key of a table with history had at `time`, or None."""
        if self._look is None:
            raise UnsupportedError(f"Store {self.name!r} has no history. Give its table history=.")
        return self._look(key, time)

    def __len__(self) -> int:
        return len(self._read())

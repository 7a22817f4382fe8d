"""A test's view of a state store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brookmere.testing.engines import StoreRow


class StoreView:
    """The rows of a store, read anew at each call."""

    def __init__(self, name: str, read: Callable[[], list[StoreRow]]) -> None:
        self.name = name
        self._read = read

    def rows(self) -> list[StoreRow]:
        """Return (key, value, timestamp) of every row."""
        return [(key, _visible(value), time) for key, value, time in self._read()]

    def all(self) -> list[tuple[Any, Any]]:
        """Return (key, value) of every row."""
        return [(key, value) for key, value, _ in self.rows()]

    def get(self, key: Any) -> Any:
        """Return the value of a key, or None."""
        found = self.get_with_timestamp(key)
        return None if found is None else found[0]

    def get_with_timestamp(self, key: Any) -> tuple[Any, int] | None:
        """Return (value, timestamp) of a key, or None."""
        return next(((value, time) for k, value, time in self.rows() if k == key), None)

    def __len__(self) -> int:
        return len(self._read())


def _visible(value: Any) -> Any:
    # An average keeps its sum and count beside it, under names with a dollar sign.
    if not isinstance(value, dict) or not any("$" in name for name in value):
        return value
    shown: dict[str, Any] = {}
    for name, kept in value.items():
        plain_name, _, part = name.partition("$")
        if part == "sum":
            count = value[f"{plain_name}$count"]
            shown[plain_name] = kept / count if count else None
        elif not part:
            shown[name] = kept
    return shown

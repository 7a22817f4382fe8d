"""Keeps rows whose results come out at the end of the batch, in the order of their last change."""

from __future__ import annotations

from typing import Any, Protocol


class Settles(Protocol):
    """An operator that changes rows of the store."""

    def settle(self, row: Any, key: Any, headers: Any) -> None: ...


class Line:
    """The line of one store. Operators that share the store share it, so that results come in one order."""

    __slots__ = ("_closer", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[Any, tuple[Settles, Any, Any]] = {}
        self._closer: Settles | None = None

    def join(self, operator: Settles) -> None:
        """Let an operator take part. When the batch of the last one ends, all of them have seen theirs."""
        self._closer = operator

    def touch(self, row: Any, operator: Settles, key: Any, headers: Any) -> None:
        """Put a row last; the operator takes it from others that share the store."""
        waiting = self._waiting
        waiting.pop(row, None)
        waiting[row] = (operator, key, headers)

    def drain(self, operator: Settles) -> None:
        """Hand each row to the operator that changed it last."""
        if operator is not self._closer or not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        for row, (by, key, headers) in waiting.items():
            by.settle(row, key, headers)

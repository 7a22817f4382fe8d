"""Copies of tables, in stores that the processors of a stage can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brookmere.worker.protocol.stage_code import Running
from brookmere.worker.stores.read_only import ReadOnlyStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from brookmere.worker.protocol.stage_code import NodeCode, Runtime, StoreKind


@dataclass(frozen=True, slots=True)
class CopyWork:
    """Keeps the rows of a table in a store of the stage, in the order in which records and changes come."""

    store: str
    kind: StoreKind = "key_value"

    def build(self, node: NodeCode, runtime: Runtime) -> Running:  # noqa: ARG002
        """Return the copy at work on one task."""
        store = runtime.store(self.store)
        kept = store.behind if isinstance(store, ReadOnlyStore) else store
        return _Copying(_puts(self.kind, kept))


class _Copying(Running):
    def __init__(self, put: Callable[[Any, Any, int], object]) -> None:
        self._put = put

    def receive_change(self, key: Any, new: Any, old: Any, ts: int, is_latest: bool) -> None:  # noqa: ARG002
        self._put(key, new, ts)


def _puts(kind: StoreKind, store: Any) -> Callable[[Any, Any, int], object]:
    """Return what puts a row of the table into its place."""
    match kind:
        case "window":
            return lambda key, value, _: store.put(key.key, value, key.start)
        case "versioned":
            return lambda key, value, ts: store.put(key, value, ts)
        case _:
            return lambda key, value, _: store.put(key, value)

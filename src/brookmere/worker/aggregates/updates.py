"""Puts rows of a table and sends their updates on: now, or the last one of each row per batch."""

from __future__ import annotations

from typing import Any

from brookmere.worker.aggregates.batch_emits import Line
from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime


class Updating(Running):
    """An operator that keeps rows. A row is an Entry or an Item of a store."""

    def __init__(self, node: NodeCode, runtime: Runtime, store: str, *, send_old: bool) -> None:
        self.out = runtime.output(node)
        self.store: Any = runtime.store(store)
        self.send_old = send_old
        self.runtime = runtime
        self.last_only = runtime.last_per_batch
        self.line: Line = runtime.line(store, Line)
        self.line.join(self)

    def sent_key(self, key: Any, row: Any) -> Any:  # noqa: ARG002
        """Return the key that an update of a row is sent with: `key`, or one made of it."""
        return key

    def change(self, row: Any, key: Any, after: Any, before: Any, ts: int, headers: Any) -> None:
        """Put a row and send the update on. `before` is the old value to tell."""
        self.store.change(row, after, ts)
        if self.last_only:
            self.line.touch(row, self, key, headers)
        else:
            old = before if self.send_old else None
            self.out.send_wire(self.sent_key(key, row), after, old, ts, headers)

    def end_batch(self) -> None:
        self.line.drain(self)

    def settle(self, row: Any, key: Any, headers: Any) -> None:
        """Send the last update of a row in this batch."""
        old = row.old
        # A row that came and went within the batch was never seen.
        if row.value is not None or old is not None:
            told = old if self.send_old else None
            self.out.send_wire(self.sent_key(key, row), row.value, told, row.ts, headers)

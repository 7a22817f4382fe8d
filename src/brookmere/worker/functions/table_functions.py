"""Runs Python functions over the changes of a table: map_values, transform_values, filter and group_by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brookmere.worker.functions.calls import Call, UserFunction, record_call
from brookmere.worker.functions.stream_functions import holds, pair
from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime
from brookmere.worker.types.python_values import writer


@dataclass(frozen=True, slots=True)
class TableMapValuesWork:
    """The function returns the new value; `sees_null`: it is called for deletions, too."""

    function: UserFunction
    sees_null: bool = False
    send_old: bool = False
    store: str | None = None

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        mapped = _Mapped(self.sees_null, record_call(self.function, node, runtime))
        if self.store is None:
            return _Computed(mapped, node, runtime, send_old=self.send_old)
        return _Stored(mapped, self.store, node, runtime, send_old=self.send_old)


@dataclass(frozen=True, slots=True)
class TableFilterWork:
    """Keeps the rows for which the function returns True, or, negated, False; the others are deleted.

    `versioned`: the changes come from a versioned table, and repeated deletions are sent on, too.
    """

    function: UserFunction
    negate: bool = False
    versioned: bool = False
    send_old: bool = False
    store: str | None = None

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        kept = _Kept(self.function, self.negate, record_call(self.function, node, runtime))
        skips = self.send_old and not self.versioned
        if self.store is None:
            return _Computed(kept, node, runtime, send_old=self.send_old, skips_nothing=skips)
        return _Stored(kept, self.store, node, runtime, send_old=self.send_old, skips_nothing=skips)


@dataclass(frozen=True, slots=True)
class TableGroupWork:
    """The function returns the key of a row's group and the value that goes there.

    `versioned`: changes of the past are left out.
    """

    function: UserFunction
    versioned: bool = False

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        return _Group(self, node, runtime)


class _Mapped:
    def __init__(self, sees_null: bool, call: Call) -> None:
        self._sees_null = sees_null
        self._call = call

    def __call__(self, key: Any, value: Any, ts: int) -> Any:
        return self._call(key, value, ts) if value is not None or self._sees_null else None


class _Kept:
    def __init__(self, function: UserFunction, negate: bool, call: Call) -> None:
        self._function = function
        self._negate = negate
        self._call = call

    def __call__(self, key: Any, value: Any, ts: int) -> Any:
        if value is None:
            return None
        return value if holds(self._function, self._call(key, value, ts)) is not self._negate else None


class _Computed(Running):
    """Computes the new row, and the old one if it is sent on."""

    def __init__(
        self,
        compute: Call,
        node: NodeCode,
        runtime: Runtime,
        *,
        send_old: bool,
        skips_nothing: bool = False,
    ) -> None:
        self.out = runtime.output(node)
        self._compute = compute
        self._send_old = send_old
        self._skips_nothing = skips_nothing

    def receive_change(self, key: Any, new: Any, old: Any, ts: int, is_latest: bool) -> None:  # noqa: ARG002
        now = self._compute(key, new, ts)
        before = self._compute(key, old, ts) if self._send_old else None
        if now is not None or before is not None or not self._skips_nothing:
            self.out.forward_change(key, now, before, ts)


class PendingUpdates:
    """The rows of a store whose updates are sent at the end of the batch, in the order of their last change.

    Nodes that share a store share it, so that their updates are in one order.
    """

    __slots__ = ("_last_node", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[Any, tuple[_Stored, Any, Any]] = {}
        self._last_node: _Stored | None = None

    def join(self, node: _Stored) -> None:
        """Add a node of the store. When the batch of the last one ends, all of them have seen theirs."""
        self._last_node = node

    def add(self, row: Any, node: _Stored, key: Any, headers: Any) -> None:
        """Put a row last; its update is sent by the node that changed it last."""
        self._waiting.pop(row, None)
        self._waiting[row] = (node, key, headers)

    def send(self, node: _Stored) -> None:
        """Send the updates, if this is the last node of the store."""
        if node is not self._last_node or not self._waiting:
            return
        waiting, self._waiting = self._waiting, {}
        for row, (by, key, headers) in waiting.items():
            by.send_last(row, key, headers)


class _Stored(Running):
    """Computes the new row and keeps it; the old one is the row that was kept before.

    Sends an update for each change, or the last one of each row per batch.
    """

    def __init__(
        self,
        compute: Call,
        store: str,
        node: NodeCode,
        runtime: Runtime,
        *,
        send_old: bool,
        skips_nothing: bool = False,
    ) -> None:
        self.out = runtime.output(node)
        self._store: Any = runtime.store(store)
        self._send_old = send_old
        self._row = runtime.row
        self._last_only = runtime.last_per_batch
        self._pending: PendingUpdates = runtime.line(store, PendingUpdates)
        self._pending.join(self)
        self._compute = compute
        self._write = writer(node.out_value)
        self._skips_nothing = skips_nothing

    def receive_change(self, key: Any, new: Any, old: Any, ts: int, is_latest: bool) -> None:  # noqa: ARG002
        now = self._compute(key, new, ts)
        if self._write is not None:
            now = self._write(now)
        row = self._store.entry(key)
        before = row.value
        if now is None and before is None and self._skips_nothing:
            return
        self._store.change(row, now, ts)
        headers = self._row.headers
        if self._last_only:
            self._pending.add(row, self, key, headers)
        else:
            self.out.send_wire(key, now, before if self._send_old else None, ts, headers)

    def end_batch(self) -> None:
        self._pending.send(self)

    def send_last(self, row: Any, key: Any, headers: Any) -> None:
        """Send the last update of a row in this batch."""
        # A row that was added and removed within the batch was never sent.
        if row.value is not None or row.old is not None:
            old = row.old if self._send_old else None
            self.out.send_wire(key, row.value, old, row.ts, headers)


class _Group(Running):
    """Names the group of a row.

    A change within a group is one update; otherwise the update of the old group comes first.
    """

    def __init__(self, work: TableGroupWork, node: NodeCode, runtime: Runtime) -> None:
        self.out = runtime.output(node)
        self._function = work.function
        self._versioned = work.versioned
        self._call = record_call(work.function, node, runtime)

    def receive_change(self, key: Any, new: Any, old: Any, ts: int, is_latest: bool) -> None:
        if key is None:
            raise ValueError("a table row without key cannot be grouped")
        if self._versioned and not is_latest:
            return
        now_key, now = self._grouped(key, new, ts)
        old_key, before = self._grouped(key, old, ts)
        if now is not None and before is not None and now_key == old_key:
            self.out.forward_change(now_key, now, before, ts)
            return
        if before is not None:
            self.out.forward_change(old_key, None, before, ts)
        if now is not None:
            self.out.forward_change(now_key, now, None, ts)

    def _grouped(self, key: Any, value: Any, ts: int) -> tuple[Any, Any]:
        if value is None:
            return None, None
        group, grouped = pair(self._function, self._call(key, value, ts))
        return (None, None) if group is None else (group, grouped)

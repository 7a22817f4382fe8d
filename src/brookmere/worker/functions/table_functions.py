"""Runs Python functions over the changes of a table: map_values, transform_values, filter and group_by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brookmere.worker.aggregates.updates import Updating
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


class _Stored(Updating):
    """Computes the new row and keeps it; the old one is what was kept before."""

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
        super().__init__(node, runtime, store, send_old=send_old)
        self._compute = compute
        self._write = writer(node.out_value)
        self._skips_nothing = skips_nothing

    def receive_change(self, key: Any, new: Any, old: Any, ts: int, is_latest: bool) -> None:  # noqa: ARG002
        now = self._compute(key, new, ts)
        if self._write is not None:
            now = self._write(now)
        row = self.store.entry(key)
        before = row.value
        if now is not None or before is not None or not self._skips_nothing:
            self.change(row, key, now, before, ts, self.runtime.row.headers)


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

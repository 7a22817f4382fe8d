"""Takes the old value of a table's update out of the group's aggregate, then puts the new one in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brookmere.worker.aggregates.definitions import Fold, UserCode
from brookmere.worker.aggregates.folds import Folding, step_of
from brookmere.worker.aggregates.updates import Updating
from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime


@dataclass(frozen=True, slots=True)
class TableAggregateWork:
    """Folds the rows of a grouped table. The step of `fold` adds a value, `subtractor` takes one away."""

    fold: Fold
    subtractor: UserCode
    send_old: bool = False

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        return TableAggregate(self, node, runtime)


class TableAggregate(Updating):
    """The aggregate at work on one task."""

    def __init__(self, work: TableAggregateWork, node: NodeCode, runtime: Runtime) -> None:
        super().__init__(node, runtime, work.fold.store, send_old=work.send_old)
        folding = Folding(work.fold, node.out_value, runtime)
        self._add = folding.step
        self._start = folding.start
        self._is_reduce = folding.is_reduce
        self._subtract = step_of(work.subtractor, node.out_value, runtime)

    def receive_change(self, key: Any, new: Any, old: Any, ts: int, is_latest: bool) -> None:  # noqa: ARG002
        if key is None:
            raise ValueError("a grouped table row without key cannot be aggregated")
        row = self.store.entry(key)
        before = now = row.value
        time = ts
        if old is not None and before is not None:
            now = self._subtract(key, old, before)
            time = max(ts, row.ts)
        if new is not None:
            base = self._start() if now is None else now
            now = self._add(key, new, base)
            # Without an aggregate to add to, reduce keeps the time of the record itself.
            if before is not None and (base is not None or not self._is_reduce):
                time = max(ts, row.ts)
        self.change(row, key, now, before, time, self.runtime.row.headers)

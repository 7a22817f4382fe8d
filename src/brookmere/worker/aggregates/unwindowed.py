"""Folds the values of a key into one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brookmere.worker.aggregates.definitions import Fold
from brookmere.worker.aggregates.folds import Folding
from brookmere.worker.aggregates.updates import Updating
from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime


@dataclass(frozen=True, slots=True)
class AggregateWork:
    """Folds a stream into a table; `send_old`: an update tells the value before it."""

    fold: Fold
    send_old: bool = False

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        return Aggregate(self, node, runtime)


class Aggregate(Updating):
    """The aggregate at work on one task."""

    def __init__(self, work: AggregateWork, node: NodeCode, runtime: Runtime) -> None:
        super().__init__(node, runtime, work.fold.store, send_old=work.send_old)
        folding = Folding(work.fold, node.out_value, runtime)
        self._step = folding.step
        self._start = folding.start
        self._entry = self.store.entry
        self._number = node.number

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:
        if key is None or value is None:
            self.runtime.count_dropped(self._number)
            return
        row = self._entry(key)
        before = row.value
        if before is None:
            before = self._start()
        elif row.ts > ts:
            ts = row.ts
        self.change(row, key, self._step(key, value, before), before, ts, headers)

"""Folds values into the windows of their key; sends at every update, once per batch, or at the close."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, ClassVar

from brookmere.worker.aggregates.closed_windows import Closing
from brookmere.worker.aggregates.definitions import NO_TIME, Emission, Fold
from brookmere.worker.aggregates.folds import Folding, Step
from brookmere.worker.aggregates.retention import Retention
from brookmere.worker.aggregates.updates import Updating
from brookmere.worker.protocol.stage_code import NodeCode, Runtime
from brookmere.worker.types.python_values import copier, writer

LATE = "late"
NULL_KEY = "null-key"
NULL_VALUE = "null-value"

_time_of = attrgetter("time")

_NEAR = 8


def place_of(items: Sequence[Any], time: int) -> int:
    """Return the place of the first row whose time is at least `time`."""
    if not items or items[-1].time < time:
        return len(items)
    # Most records are for the latest rows.
    for place in range(len(items) - 1, max(-1, len(items) - _NEAR), -1):
        if items[place].time < time:
            return place + 1
    return bisect_left(items, time, key=_time_of)


def find(items: Sequence[Any], time: int, number: int = 0) -> Any:
    """Return the row of a time and number, deleted or not; None if there is no place for it."""
    for place in range(place_of(items, time), len(items)):
        item = items[place]
        if item.time != time:
            return None
        if item.number == number:
            return item
    return None


def _same(key: Any) -> Any:
    return key


def _of_own_values(step: Step, node: NodeCode) -> Step:
    """Return a step that may change the value it gets: the next window of the record has its own."""
    copy = copier(node.value)
    return step if copy is None else lambda key, value, kept: step(key, copy(value), kept)


class Windowing(Updating):
    """A table of windows. Its stream time is its own."""

    is_session: ClassVar[bool] = False
    overlaps = False
    """A record can be in several windows."""

    def __init__(self, fold: Fold, emission: Emission, node: NodeCode, runtime: Runtime) -> None:
        super().__init__(node, runtime, fold.store, send_old=emission.send_old)
        folding = Folding(fold, node.out_value, runtime)
        self.step = _of_own_values(folding.step, node) if self.overlaps else folding.step
        self.merge = folding.merge
        self.start = folding.start
        self._send_key = writer(node.key, "the key") or _same
        self.clock = runtime.clock(f"node:{node.name}", NO_TIME)
        self.emission = emission
        self.retention = Retention(self.store.code.retention_ms, emission.on_close, self.is_session)
        self.closing = Closing(self, node, runtime, fold.store) if emission.on_close else None

    def bounds(self, time: int, number: int) -> tuple[int, int]:
        """Return start and end of the window that a row stands for."""
        raise NotImplementedError

    def key_of(self, key: Any, time: int, number: int) -> Any:
        """Return the key that a row is sent with, in the form of the wire."""
        return (self._send_key(key), *self.bounds(time, number))

    def sent_key(self, key: Any, row: Any) -> Any:
        known = row.sent_key
        if known is None:
            known = row.sent_key = self.key_of(key, row.time, row.number)
        return known

    def close_time(self) -> int:
        """Return up to when windows have closed: they end before it, or at it if their end is exclusive."""
        raise NotImplementedError

    def closed_from(self, sent_to: int) -> int:
        """Return the earliest time of rows that were not sent when windows had closed up to `sent_to`."""
        raise NotImplementedError

    def closed_to(self, close_time: int) -> int:
        """Return the latest time of rows whose windows have closed."""
        raise NotImplementedError

    def may_have_closed(self, earliest: int, latest: int) -> bool:
        """Tell whether a row can have such a time."""
        return latest >= earliest

    def skips(self, key: Any, value: Any, ts: int) -> bool:
        """Drop a record without key, or without value where that is asked for; tell whether it was one."""
        if key is None:
            self.drop(NULL_KEY, key, value, ts)
        elif value is None and self.emission.skip_nulls:
            self.drop(NULL_VALUE, key, value, ts)
        else:
            return False
        return True

    def drop(self, reason: str, key: Any, value: Any, ts: int, start: int = -1, end: int = -1) -> None:
        """Leave a record out, and tell why."""
        self.out.drop(reason, key, value, ts, self.clock.time, start, end)

    def oldest(self) -> int:
        """Return the time before which rows cannot be found any more."""
        oldest: int = self.store.time - self.retention.reach
        return oldest

    def update(self, item: Any, key: Any, after: Any, before: Any, ts: int, headers: Any) -> None:
        """Put a window's aggregate, and send it on unless that is for its close."""
        if self.closing is None:
            self.change(item, key, after, before, ts, headers)
        else:
            self.store.change(item, after, ts)
            self.closing.expect(item.time)

    def tick(self, wall: int) -> None:
        idle = self.emission.close_idle_ms
        if idle is None or self.clock.time < 0:
            return
        passed = self.runtime.idle_for(wall, idle)
        if passed > 0:
            self.clock.time += passed
            self.emit_closed()

    def emit_closed(self) -> None:
        """Send the windows that have closed, if that is when they are sent."""
        if self.closing is not None:
            self.closing.emit(self.close_time())

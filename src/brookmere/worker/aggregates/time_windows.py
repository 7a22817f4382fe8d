"""Folds records into windows of fixed places: tumbling, hopping, and the one window without end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brookmere.worker.aggregates.definitions import FOREVER, NO_TIME, Emission, Fold
from brookmere.worker.aggregates.windows import LATE, Windowing, find, place_of
from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime


@dataclass(frozen=True, slots=True)
class TimeWindowsWork:
    """Windows of `size_ms`, one every `advance_ms`. A size of FOREVER is one window, from `begin_ms` on."""

    fold: Fold
    emission: Emission
    size_ms: int
    advance_ms: int
    grace_ms: int
    begin_ms: int = 0
    sends_late: bool = False

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        return TimeWindows(self, node, runtime)


class TimeWindows(Windowing):
    """The windows at work on one task."""

    def __init__(self, work: TimeWindowsWork, node: NodeCode, runtime: Runtime) -> None:
        self._size = work.size_ms
        self._advance = work.advance_ms
        self._grace = work.grace_ms
        self._begin = work.begin_ms
        self.overlaps = work.advance_ms < work.size_ms
        super().__init__(work.fold, work.emission, node, runtime)
        self._reach = self.retention.reach

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:
        if (key is None or value is None) and self.skips(key, value, ts):
            return
        clock = self.clock
        if ts > clock.time:
            clock.time = ts
        closed = clock.time - self._grace
        if self._size != FOREVER:
            self._windows(key, value, ts, closed, headers)
        elif ts >= self._begin:
            group = self.store.group(key)
            item = find(group.items, self._begin)
            self._add(item, group, key, value, self._begin, ts, headers)
        if self.closing is not None:
            self.closing.emit(closed)

    def _windows(self, key: Any, value: Any, ts: int, closed: int, headers: Any) -> None:
        size, advance = self._size, self._advance
        first = (ts - size + advance) // advance * advance if ts > size - advance else 0
        group = None
        for start in range(first, ts + 1, advance):
            if start + size <= closed:
                self.drop(LATE, key, value, ts, start, start + size)
                continue
            if group is None:
                group = self.store.group(key)
                items = group.items
                at = place_of(items, start)
            # The windows of a record and the rows of its key are both in order of time.
            item = items[at] if at < len(items) and items[at].time == start else None
            self._add(item, group, key, value, start, ts, headers)
            at += 1

    def _add(self, item: Any, group: Any, key: Any, value: Any, window: int, ts: int, headers: Any) -> None:
        if item is None:
            before = self.start()
            after = self.step(key, value, before)
            item = self.store.add(group, window, 0)
        else:
            before = item.value
            if before is None or window < self.store.time - self._reach:
                before = self.start()
            elif item.ts > ts:
                ts = item.ts
            after = self.step(key, value, before)
        self.update(item, key, after, before, ts, headers)

    def bounds(self, time: int, number: int) -> tuple[int, int]:  # noqa: ARG002
        return time, FOREVER if self._size == FOREVER else time + self._size

    def close_time(self) -> int:
        return self.clock.time - self._grace

    def closed_from(self, sent_to: int) -> int:
        return 0 if sent_to == NO_TIME else max(0, sent_to - self._size) + 1

    def closed_to(self, close_time: int) -> int:
        return close_time - self._size

    def may_have_closed(self, earliest: int, latest: int) -> bool:
        """Tell whether a window begins, or is the first of a time, between the two."""
        before = earliest - 1
        return self._first(latest) != self._first(before) or self._last(latest) != self._last(before)

    def _first(self, ts: int) -> int:
        return max(0, ts - self._size + self._advance) // self._advance * self._advance

    def _last(self, ts: int) -> int:
        return ts // self._advance * self._advance

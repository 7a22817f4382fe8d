"""Folds records into sessions, which grow together when the gap between them is filled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brookmere.worker.aggregates.definitions import Emission, Fold
from brookmere.worker.aggregates.windows import LATE, Windowing, find, place_of
from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime


@dataclass(frozen=True, slots=True)
class SessionWindowsWork:
    """Sessions that end when no record comes for `gap_ms`."""

    fold: Fold
    emission: Emission
    gap_ms: int
    grace_ms: int
    sends_late: bool = False

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        return SessionWindows(self, node, runtime)


class SessionWindows(Windowing):
    """The sessions at work on one task. A row's time is the end of its session, its number the start."""

    is_session = True

    def __init__(self, work: SessionWindowsWork, node: NodeCode, runtime: Runtime) -> None:
        self._gap = work.gap_ms
        self._wait = work.gap_ms + work.grace_ms
        super().__init__(work.fold, work.emission, node, runtime)

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:  # noqa: ARG002
        if (key is None or value is None) and self.skips(key, value, ts):
            return
        clock = self.clock
        if ts > clock.time:
            clock.time = ts
        closed = clock.time - self._wait
        self._add(key, value, ts, closed)
        if self.closing is not None:
            self.closing.emit(closed)

    def _add(self, key: Any, value: Any, ts: int, closed: int) -> None:
        group = self.store.group(key)
        touched = self._touching(group.items, ts)
        start = end = ts
        aggregate = self.start()
        for item in touched:
            aggregate = self.merge(key, item.value, aggregate)
            start = min(start, item.number)
            end = max(end, item.time)
        if end < closed:
            self.drop(LATE, key, value, ts, start, end)
            return
        # Results of sessions carry no headers while they are updated.
        if start != ts or end != ts:
            for item in touched:
                self.update(item, key, None, item.value, item.time, ())
        after = self.step(key, value, aggregate)
        item = find(group.items, end, start)
        if item is None:
            item = self.store.add(group, end, start)
        self.update(item, key, after, None, end, ())

    def _touching(self, items: list[Any], ts: int) -> list[Any]:
        """Return the sessions that the record falls into or touches, by end, then by start."""
        if not items:
            return items
        reach = ts + self._gap
        first = place_of(items, max(ts - self._gap, self.oldest()))
        return [item for item in items[first:] if item.value is not None and item.number <= reach]

    def bounds(self, time: int, number: int) -> tuple[int, int]:
        return number, time

    def close_time(self) -> int:
        return self.clock.time - self._wait

    def closed_from(self, sent_to: int) -> int:
        return max(0, sent_to)

    def closed_to(self, close_time: int) -> int:
        return close_time - 1

"""Folds records into windows around them: one that ends at each record and one that begins just behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brookmere.worker.aggregates.definitions import NO_TIME, Emission, Fold
from brookmere.worker.aggregates.windows import LATE, NULL_KEY, NULL_VALUE, Windowing, find, place_of
from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime

Seen = tuple[Any, int]
"""What an aggregate was, and its time, when it was looked at: later updates do not change it."""


@dataclass(frozen=True, slots=True)
class SlidingWindowsWork:
    """Windows of records up to `difference_ms` apart; both bounds are inclusive."""

    fold: Fold
    emission: Emission
    difference_ms: int
    grace_ms: int
    sends_late: bool = False

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        return SlidingWindows(self, node, runtime)


class SlidingWindows(Windowing):
    """The windows at work on one task."""

    overlaps = True

    def __init__(self, work: SlidingWindowsWork, node: NodeCode, runtime: Runtime) -> None:
        self.difference = work.difference_ms
        self._grace = work.grace_ms
        super().__init__(work.fold, work.emission, node, runtime)

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:
        if key is None or value is None:
            self.drop(NULL_KEY if key is None else NULL_VALUE, key, value, ts)
            return
        clock, difference = self.clock, self.difference
        if ts > clock.time:
            clock.time = ts
        closed = clock.time - self._grace
        if difference == 0:
            # Kafka Streams, too, finds out only when it makes the first window.
            raise ValueError("Window endMs must be greater than window startMs.")
        if ts + difference < closed:
            self.drop(LATE, key, value, ts)
        elif ts < difference:
            _Early(self, key, value, ts, closed, headers).run()
        else:
            _Usual(self, key, value, ts, closed, headers).run()
            if self.closing is not None:
                self.closing.emit(closed)

    def bounds(self, time: int, number: int) -> tuple[int, int]:  # noqa: ARG002
        return time, time + self.difference

    def close_time(self) -> int:
        return self.clock.time - self._grace

    def closed_from(self, sent_to: int) -> int:
        return 0 if sent_to == NO_TIME else max(0, sent_to - self.difference)

    def closed_to(self, close_time: int) -> int:
        return close_time - self.difference - 1

    def may_have_closed(self, earliest: int, latest: int) -> bool:  # noqa: ARG002
        return True


class _Visit:
    """A record on its way through the windows of its key."""

    __slots__ = (
        "closed",
        "group",
        "headers",
        "key",
        "nothing",
        "of",
        "previous",
        "right",
        "right_exists",
        "ts",
        "value",
    )

    def __init__(self, of: SlidingWindows, key: Any, value: Any, ts: int, closed: int, headers: Any) -> None:
        self.of = of
        self.key = key
        self.value = value
        self.ts = ts
        self.closed = closed
        self.headers = headers
        self.group = of.store.group(key)
        self.right: Seen | None = None
        self.right_exists = False
        self.previous = NO_TIME
        self.nothing: Seen = (of.start(), ts)

    def rows(self, earliest: int) -> list[Any]:
        """Return the rows from a time to the window just behind the record, as they are now."""
        items = self.group.items
        first = place_of(items, max(earliest, 0, self.of.oldest()))
        last = place_of(items, self.ts + 2)
        return [item for item in items[first:last] if item.value is not None]

    def exists(self, window: int) -> bool:
        item = find(self.group.items, window)
        return item is not None and item.value is not None and window >= self.of.oldest()

    def add(self, window: int, before: Seen) -> None:
        of, ts = self.of, self.ts
        if window + of.difference < self.closed:
            of.drop(LATE, self.key, self.value, ts, window, window + of.difference)
            return
        aggregate, seen_ts = before
        after = of.step(self.key, self.value, aggregate)
        time = ts if aggregate is None else max(ts, seen_ts)
        of.update(self.place(window), self.key, after, aggregate, time, self.headers)

    def place(self, window: int) -> Any:
        item = find(self.group.items, window)
        return self.of.store.add(self.group, window, 0) if item is None else item

    def add_right(self) -> None:
        """Begin the window behind the record with what is in the windows to its right."""
        right = self.right
        if not self.right_exists and right is not None and right[1] > self.ts:
            self.of.update(self.place(self.ts + 1), self.key, right[0], None, right[1], self.headers)


class _Usual(_Visit):
    __slots__ = ()

    def run(self) -> None:
        ts, difference = self.ts, self.of.difference
        left: Seen | None = None
        left_exists = False
        for item in reversed(self.rows(ts - 2 * difference)):
            end = item.time + difference
            before = (item.value, item.ts)
            if item.time == ts + 1:
                self.right_exists = True
            elif end > ts:
                self.right = self.right or before
                self.add(item.time, before)
            elif end == ts:
                left_exists = True
                self.add(item.time, before)
                # The record before it is in this window, unless it has the same time: then all is done.
                if before[1] >= ts:
                    return
                self.previous = before[1]
            else:
                left = before
                self.previous = before[1]
                break
        previous = self.previous
        if previous != NO_TIME and not self.exists(previous + 1) and previous + 1 + difference >= ts:
            self.add(previous + 1, self.nothing)
        if not left_exists:
            inside = left is not None and ts - difference <= previous
            self.add(ts - difference, (left[0], ts) if left is not None and inside else self.nothing)
        self.add_right()


class _Early(_Visit):
    """Windows do not begin before 0: records before the first full window share the one from 0."""

    __slots__ = ()

    def run(self) -> None:
        ts = self.ts
        shared: Seen | None = None
        for item in self.rows(0):
            before = (item.value, item.ts)
            if item.time == 0:
                shared = before
                if before[1] < ts:
                    self.previous = before[1]
            elif item.time <= ts:
                self.right = before
                self.add(item.time, before)
            else:
                self.right_exists = True
        if self.right is None and shared is not None and shared[1] > ts:
            self.right = shared
        self.add_right()
        if self.previous != NO_TIME and not self.exists(self.previous + 1):
            self.add(self.previous + 1, self.nothing)
        self.add(0, self.nothing if shared is None else shared)

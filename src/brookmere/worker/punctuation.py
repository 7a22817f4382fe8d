"""Turns times into calls of what user code has scheduled for them, by Kafka Streams' rules."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from brookmere.worker.code import Clock, NodeCode

NEVER: Final = (1 << 63) - 1


class Schedule:
    """Calls that come at each interval, until they are cancelled."""

    __slots__ = ("callback", "clock", "interval", "is_cancelled", "node", "time")

    def __init__(
        self, node: NodeCode, time: int, interval: int, callback: Callable[[int], None], clock: Clock | None
    ) -> None:
        self.node = node
        self.time = time
        self.interval = interval
        self.callback = callback
        self.clock = clock
        self.is_cancelled = False

    def cancel(self) -> None:
        """Have no more calls."""
        self.is_cancelled = True

    def move(self, now: int) -> None:
        """Wait for the next turn. Turns that were missed are left out."""
        missed = max(0, now - self.time) // self.interval
        self.time += (missed + 1) * self.interval
        if self.clock is not None:
            self.clock.time = self.time


class PunctuationQueue:
    """Schedules in the order of their next turns. `due` is when the first of them has its turn."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Schedule]] = []
        self._turns = count()
        self.due = NEVER

    def add(self, schedule: Schedule) -> None:
        """Have a schedule wait for its turn."""
        heappush(self._heap, (schedule.time, next(self._turns), schedule))
        self.due = self._heap[0][0]

    def punctuate(self, now: int, call: Callable[[Schedule, int], None]) -> None:
        """Call what has its turn by now, once each, with the time that it is."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            schedule = heappop(heap)[2]
            if not schedule.is_cancelled:
                call(schedule, now)
                # The call may have cancelled it.
                if not schedule.is_cancelled:
                    schedule.move(now)
                    self.add(schedule)
        self.due = heap[0][0] if heap else NEVER


class TaskTime:
    """The stream time of a task in one sub-topology: the latest time of its records."""

    __slots__ = ("clock", "queue")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.queue = PunctuationQueue()

"""Punctuations: calls that user code has scheduled, with the rules of Kafka Streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from brookmere.worker.protocol.stage_code import Clock, NodeCode

NEVER: Final = (1 << 63) - 1


class Schedule:
    """Calls that come at each interval, until they are cancelled."""

    __slots__ = ("callback", "clock", "interval", "is_cancelled", "node", "place", "time")

    def __init__(
        self,
        node: NodeCode,
        time: int,
        interval: int,
        callback: Callable[[int], None],
        clock: Clock | None = None,
        place: Clock | None = None,
    ) -> None:
        self.node = node
        self.time = time
        self.interval = interval
        self.callback = callback
        self.clock = clock
        self.place = place
        self.is_cancelled = False

    def cancel(self) -> None:
        """Cancel the schedule."""
        self.is_cancelled = True

    def move(self, now: int) -> None:
        """Wait for the next call. Missed calls are skipped."""
        missed = max(0, now - self.time) // self.interval
        self.time += (missed + 1) * self.interval
        if self.clock is not None:
            self.clock.time = self.time


class PunctuationQueue:
    """Schedules in the order of their next turns. `due` is when the first of them has its turn.

    Which of equal turns comes first shows in results, so this is the heap that Kafka Streams has, the one of
    java.util.PriorityQueue, and the places of schedules in it are kept with their times.
    """

    def __init__(self) -> None:
        self._heap: list[Schedule] = []
        self._is_whole = False
        self.due = NEVER

    def add(self, schedule: Schedule) -> None:
        """Add a schedule."""
        self._push(schedule)
        self._note()

    def restore(self) -> None:
        """Put the schedules into the places they had before a restart, new ones behind them.

        Until then these positions are not rewritten.
        """
        self._is_whole = True
        waiting = sorted(self._heap, key=lambda each: NEVER if each.place is None else each.place.time)
        self._heap = []
        for schedule in waiting:
            self._push(schedule)
        self._note()

    def punctuate(self, now: int, call: Callable[[Schedule, int], None]) -> None:
        """Call what has its turn by now, once each, with the time that it is."""
        while self._heap and self._heap[0].time <= now:
            schedule = self._pop()
            if not schedule.is_cancelled:
                call(schedule, now)
                # The call may have cancelled it.
                if not schedule.is_cancelled:
                    schedule.move(now)
                    self._push(schedule)
        self._note()

    def _note(self) -> None:
        if self._is_whole:
            for place, schedule in enumerate(self._heap):
                if schedule.place is not None:
                    schedule.place.time = place
        self.due = self._heap[0].time if self._heap else NEVER

    def _push(self, schedule: Schedule) -> None:
        heap = self._heap
        place = len(heap)
        heap.append(schedule)
        while place > 0:
            above = (place - 1) // 2
            if schedule.time >= heap[above].time:
                break
            heap[place] = heap[above]
            place = above
        heap[place] = schedule

    def _pop(self) -> Schedule:
        heap = self._heap
        first, last = heap[0], heap.pop()
        if heap:
            place = 0
            while (below := 2 * place + 1) < len(heap):
                if below + 1 < len(heap) and heap[below].time > heap[below + 1].time:
                    below += 1
                if last.time <= heap[below].time:
                    break
                heap[place] = heap[below]
                place = below
            heap[place] = last
        return first


class TaskTime:
    """The stream time of a task in one sub-topology: the latest time of its records."""

    __slots__ = ("clock", "queue")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.queue = PunctuationQueue()

"""Schedules have their turns in the order that Kafka Streams gives them, also after a restart."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.worker.protocol.stage_code import Clock
from brookmere.worker.task.punctuation import NEVER, PunctuationQueue, Schedule

NODE: Any = None
TIMES = [0, 3, 13, 16, 84, 86, 90, 92, 97, 100, 102, 107, 109, 121]
INTERVALS = (4, 6, 12, 12, 3)


class Calls:
    """A queue of schedules that tell their numbers, and what they told."""

    def __init__(self, clocks: dict[int, tuple[Clock, Clock]] | None = None) -> None:
        self.queue = PunctuationQueue()
        self.made: list[int] = []
        self.clocks = clocks or {number: (Clock(0), Clock(NEVER)) for number in range(len(INTERVALS))}
        for number, interval in enumerate(INTERVALS):
            time, place = self.clocks[number]
            self.queue.add(Schedule(NODE, time.time, interval, self._teller(number), time, place))
        self.queue.restore()

    def _teller(self, number: int) -> Any:
        return lambda now: self.made.append(number)

    def at(self, now: int) -> list[int]:
        self.made.clear()
        self.queue.punctuate(now, lambda schedule, time: schedule.callback(time))
        return list(self.made)


def test_each_schedule_has_one_turn_and_leaves_out_what_it_missed() -> None:
    calls = Calls()

    assert sorted(calls.at(0)) == [0, 1, 2, 3, 4]
    assert calls.at(2) == []
    assert calls.queue.due == 3
    assert sorted(calls.at(100)) == [0, 1, 2, 3, 4]
    assert calls.queue.due == 102


def test_equal_turns_come_in_the_order_of_javas_heap() -> None:
    calls = Calls()

    assert [calls.at(now) for now in (0, 12, 24)] == [[0, 4, 1, 3, 2], [4, 0, 1, 2, 3], [4, 0, 1, 3, 2]]


@pytest.mark.parametrize("stop", range(1, len(TIMES)))
def test_restart_changes_no_order(stop: int) -> None:
    whole = Calls()
    expected = [whole.at(now) for now in TIMES]

    first = Calls()
    found = [first.at(now) for now in TIMES[:stop]]
    second = Calls({n: (Clock(t.time), Clock(p.time)) for n, (t, p) in first.clocks.items()})
    found += [second.at(now) for now in TIMES[stop:]]

    assert found == expected


def test_cancelled_schedule_is_not_called_again() -> None:
    queue, calls = PunctuationQueue(), list[int]()
    schedule = Schedule(NODE, 0, 10, calls.append)
    queue.add(schedule)

    queue.punctuate(5, lambda each, now: each.callback(now))
    schedule.cancel()
    queue.punctuate(50, lambda each, now: each.callback(now))

    assert calls == [5]
    assert queue.due == NEVER

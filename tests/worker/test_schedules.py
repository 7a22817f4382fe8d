"""Punctuations: when they are called, what they may do, and how they go on after a restart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from brookmere.record import Record
from brookmere.worker.api.context import ProcessorContext
from brookmere.worker.api.processor import Processor
from brookmere.worker.protocol.stage_code import NodeCode, ProcessWork, StageCode, StoreCode
from tests.worker.jvm import LONG, STRING, TICKS, Fed, Jvm, Sent, WorkerFailedError, stage_of

MS = timedelta(milliseconds=1)
TIME, WALL, TICK, BUSY, DUE = -4, -5, -6, -7, -8


class Ticking(Processor):
    """Forwards each record, and at each call the time with the key "tick"."""

    interval = 10 * MS
    kind: Any = "stream_time"

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.schedule = context.schedule(self.interval, self.kind, self.punctuate)

    def punctuate(self, now: int) -> None:
        self.context.forward(Record("tick", now, now))

    def process(self, record: Record) -> None:
        self.context.forward(record)


class ByWall(Ticking):
    kind = "wall_clock"


def clock(now: int, node: int) -> Fed:
    return Fed(None, None, now, node, source=TICKS)


@pytest.mark.parametrize("cut", [1, None])
@pytest.mark.parametrize("headers", [None, [("h", b"1")]])
def test_stream_time_calls_at_the_first_record_and_at_multiples_of_the_interval(
    cut: int | None, headers: Any
) -> None:
    jvm = Jvm(stage_of(ProcessWork(Ticking)))
    rows = [Fed("a", 0, ts, headers=headers) for ts in (3, 9, 10, 8, 45, 49, 50)]

    answer = jvm.batch(*rows, cut=cut)

    assert [(sent.key, sent.ts) for sent in answer.sent] == [
        ("a", 3),
        ("tick", 3),
        ("a", 9),
        ("a", 10),
        ("tick", 10),
        ("a", 8),
        ("a", 45),
        ("tick", 45),
        ("a", 49),
        ("a", 50),
        ("tick", 50),
    ]
    assert [sent.headers for sent in answer.sent if sent.key == "tick"] == [None] * 4


def test_a_call_comes_behind_all_rows_of_its_root_record() -> None:
    jvm = Jvm(stage_of(ProcessWork(Ticking)))

    answer = jvm.batch(Fed("a", 0, 5, seq=1), Fed("b", 0, 5, seq=1), Fed("c", 0, 6, seq=2))

    assert [(sent.key, sent.row) for sent in answer.sent] == [("a", 0), ("b", 1), ("tick", 1), ("c", 2)]


def test_rows_that_tell_the_time_make_calls_due() -> None:
    jvm = Jvm(stage_of(ProcessWork(Ticking)))

    answer = jvm.batch(
        Fed(None, None, 20, TIME, seq=1), Fed("a", 0, 7, seq=1), Fed(None, None, 31, TIME, seq=2)
    )

    assert [(sent.key, sent.ts, sent.row) for sent in answer.sent] == [
        ("a", 7, 1),
        ("tick", 20, 1),
        ("tick", 31, 2),
    ]


def test_records_that_do_not_come_from_a_source_move_no_time() -> None:
    node = NodeCode(0, "node", ProcessWork(Ticking), STRING, LONG, STRING, LONG, moves_time=False)
    jvm = Jvm(StageCode(1, (node,), (), ("topic",)))

    answer = jvm.batch(("a", 0, 50))

    assert answer.counts == {0: [1, 0, 0, 0]}


def test_the_wall_clock_calls_after_one_interval_and_leaves_out_what_it_missed() -> None:
    jvm = Jvm(stage_of(ProcessWork(ByWall)))
    jvm.wall = 100

    answer = jvm.batch(
        clock(109, TICK), clock(110, TICK), ("a", 0, 1), clock(111, WALL), clock(145, TICK), clock(149, BUSY)
    )

    assert [(sent.key, sent.ts) for sent in answer.sent] == [("tick", 110), ("a", 1), ("tick", 145)]
    assert jvm.batch(clock(150, TICK)).sent == [Sent("tick", 150, 150)]


def test_a_restart_goes_on_with_the_next_turn() -> None:
    jvm = Jvm(stage_of(ProcessWork(Ticking)))
    jvm.batch(("a", 0, 5))

    jvm.restart()

    assert [(sent.key, sent.ts) for sent in jvm.batch(("a", 0, 9), ("a", 0, 10)).sent] == [
        ("a", 9),
        ("a", 10),
        ("tick", 10),
    ]


def test_stream_time_outlives_a_restart() -> None:
    seen: list[int] = []

    class Look(Processor):
        def init(self, context: ProcessorContext) -> None:
            super().init(context)
            seen.append(context.stream_time)

        def process(self, record: Record) -> None:
            seen.append(self.context.stream_time)

    jvm = Jvm(stage_of(ProcessWork(Look)))
    jvm.batch(("a", 0, 7), ("a", 0, 5))
    jvm.restart()
    jvm.batch(("a", 0, 6))

    assert seen == [-1, 7, 7, 7, 7]


def test_cancel_ends_the_calls_also_from_within_one() -> None:
    class Once(Ticking):
        def punctuate(self, now: int) -> None:
            super().punctuate(now)
            self.schedule.cancel()

    class Never(Ticking):
        def process(self, record: Record) -> None:
            self.schedule.cancel()

    rows = [("a", 0, ts) for ts in (0, 10, 20)]

    assert [sent.key for sent in Jvm(stage_of(ProcessWork(Once))).batch(*rows).sent] == [
        "a",
        "tick",
        "a",
        "a",
    ]
    assert Jvm(stage_of(ProcessWork(Never))).batch(*rows).sent == []


def test_a_call_that_fails_is_told_and_comes_again() -> None:
    class Failing(Ticking):
        def punctuate(self, now: int) -> None:
            raise ValueError(f"at {now}")

    answer = Jvm(stage_of(ProcessWork(Failing))).batch(("a", 0, 5), ("a", 0, 6), ("a", 0, 12))

    assert [(row, kind, message, ts) for row, _, kind, message, _, ts in answer.errors] == [
        (0, "ValueError", "at 5", 5),
        (2, "ValueError", "at 12", 12),
    ]
    assert len(answer.sent) == 3


def test_what_a_record_schedules_is_called_too() -> None:
    calls: list[tuple[str, int]] = []

    class Later(Processor):
        reads_stream_time = True

        def process(self, record: Record) -> None:
            self.context.schedule(10 * MS, "stream_time", lambda now: calls.append((record.key, now)))

    Jvm(stage_of(ProcessWork(Later))).batch(("a", 0, 5), ("b", 0, 12))

    assert sorted(calls) == [("a", 5), ("a", 12), ("b", 12)]


def test_a_call_sees_no_record_and_puts_at_its_time() -> None:
    seen: list[Any] = []

    class Put(Ticking):
        def punctuate(self, now: int) -> None:
            context = self.context
            seen.append(
                (context.topic, context.partition, context.offset, context.timestamp, context.headers)
            )
            context.store("last").put("tick", now)

    jvm = Jvm(stage_of(ProcessWork(Put), StoreCode("last", "key_value", STRING, LONG)))
    jvm.batch(Fed("a", 0, 5, headers=[("h", b"1")]))

    assert seen == [(None, None, None, 5, ())]
    assert jvm.rows[0, 0] == {"tick": ("tick", 5, 5)}


def test_due_row_advances_stream_time_and_punctuates_before_later_rows_of_its_record() -> None:
    jvm = Jvm(stage_of(ProcessWork(Ticking)))

    answer = jvm.batch(
        Fed(0, None, 12, DUE, source=1, seq=7),
        Fed("a", 0, 5, source=1, seq=7),
        Fed(0, None, 19, DUE, source=1),
    )

    assert [(sent.key, sent.ts) for sent in answer.sent] == [("tick", 12), ("a", 5)]


def test_punctuation_of_a_batch_without_records_can_read_a_store() -> None:
    seen: list[Any] = []

    class Get(Ticking):
        def punctuate(self, now: int) -> None:
            seen.append((now, self.context.store("last").get("a")))

    jvm = Jvm(stage_of(ProcessWork(Get), StoreCode("last", "key_value", STRING, LONG)))

    jvm.batch(Fed(0, None, 12, DUE))

    assert seen == [(12, None)]


def test_sub_topologies_have_times_of_their_own() -> None:
    seen: list[tuple[str, int]] = []

    class Look(Processor):
        def process(self, record: Record) -> None:
            seen.append((record.key, self.context.stream_time))

    nodes = tuple(
        NodeCode(n, f"node-{n}", ProcessWork(Look), STRING, LONG, moves_time=True, subtopology=n, timeline=n)
        for n in (0, 1)
    )
    jvm = Jvm(StageCode(1, nodes, (), ("topic",)))

    jvm.batch(
        Fed("a", 0, 50, 0), Fed("b", 0, 7, 1), Fed(1, None, 9, TIME), Fed("b", 0, 8, 1), Fed("a", 0, 1, 0)
    )

    assert seen == [("a", 50), ("b", 7), ("b", 9), ("a", 50)]


def scheduling(schedule: Callable[[ProcessorContext], Any], *flags: bool) -> None:
    class Wrong(Processor):
        def init(self, context: ProcessorContext) -> None:
            schedule(context)

    Jvm(stage_of(ProcessWork(Wrong, False, *flags))).batch(("a", 0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, "stream_time", print), "schedules every 10: a duration needs a unit"),
        ((MS / 2, "stream_time", print), "the shortest interval is a millisecond"),
        ((MS, "event_time", print), "schedules by 'event_time'; give 'stream_time' or 'wall_clock'"),
        ((MS, "wall_clock", None), "schedules None, which cannot be called; give a function of the time"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(WorkerFailedError, match=message):
        scheduling(lambda context: context.schedule(*arguments))


@pytest.mark.parametrize(
    ("use", "attribute"),
    [
        (lambda context: context.stream_time, "reads_stream_time"),
        (lambda context: context.schedule(MS, "stream_time", print), "reads_stream_time"),
        (lambda context: context.schedule(MS, "wall_clock", print), "uses_wall_clock"),
    ],
)
def test_a_time_that_the_stage_is_not_told_is_refused(use: Any, attribute: str) -> None:
    with pytest.raises(WorkerFailedError, match=f"set the class attribute {attribute} = True"):
        scheduling(use, False, False)

"""Windowed aggregates beyond the recordings: late records, idle closes, corrections, last updates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from brookmere.worker.aggregates import (
    Emission,
    Fold,
    SessionWindowsWork,
    SlidingWindowsWork,
    Start,
    TimeWindowsWork,
    UserCode,
)
from brookmere.worker.protocol.stage_code import StoreCode, TypeCode
from tests.worker.aggregates.windowed import WINDOWED
from tests.worker.jvm import LONG, STRING, Fed, Jvm, stage_of

COUNT = Fold(
    "kept",
    UserCode(lambda count: count + 1, ("aggregate",)),
    Start(0),
    UserCode(lambda one, other: one + other, ("aggregate", "value")),
)
WINDOWS = TimeWindowsWork(COUNT, Emission(), 10, 10, 0)
TICK, BUSY_TICK, TOLD = -6, -7, -5


def _jvm(work: Any, kind: Any = "window", retention: int = 10, *, last: bool = False) -> Jvm:
    store = StoreCode("kept", kind, STRING, LONG, retention)
    stage = stage_of(work, store, value=STRING, out_key=WINDOWED, sends_table=True)
    return Jvm(replace(stage, last_per_batch=last))


def _on_close(**more: Any) -> Jvm:
    return _jvm(replace(WINDOWS, emission=Emission(on_close=True, **more)), "timed_window")


def _told(answer: Any) -> list[Any]:
    return [(tuple(sent.key), sent.value[0]) for sent in answer.sent]


def test_a_late_record_is_told_with_stream_time_and_window_if_somebody_wants_it() -> None:
    answer = _jvm(replace(WINDOWS, sends_late=True)).batch(("a", "x", 25), ("a", "y", 4), (None, "z", 26))

    assert answer.late == [
        (1, 0, "late", "a", "y", 4, 25, 0, 10, 0),
        (2, 0, "null-key", None, "z", 26, 25, -1, -1, 0),
    ]
    assert answer.counts == {0: [3, 1, 2, 0, 1]}


def test_dropped_records_are_only_counted_otherwise() -> None:
    answer = _jvm(WINDOWS).batch(("a", "x", 25), ("a", "y", 4))

    assert answer.late == []
    assert answer.counts == {0: [2, 1, 1, 0, 1]}


def test_stream_time_of_the_operator_survives_a_restart() -> None:
    jvm = _jvm(WINDOWS)
    jvm.batch(("a", "x", 25))
    jvm.restart()

    assert jvm.batch(("a", "y", 4)).sent == []


def test_a_record_without_value_is_left_out_if_that_is_corrected() -> None:
    corrected = replace(WINDOWS, emission=Emission(skip_nulls=True))

    assert _told(_jvm(WINDOWS).batch(("a", None, 1))) == [(("a", 0, 10), 1)]
    assert _jvm(corrected).batch(("a", None, 1)).sent == []


@pytest.mark.parametrize(
    ("windows", "sums"),
    [
        (lambda fold: TimeWindowsWork(fold, Emission(), 10, 5, 0), [11, 11, 32, 32]),
        (lambda fold: SlidingWindowsWork(fold, Emission(), 10, 0), [11, 21, 32]),
    ],
    ids=["hopping", "sliding"],
)
def test_a_step_that_changes_its_value_does_not_change_it_for_other_windows(
    windows: Any, sums: list[int]
) -> None:
    def add_up(value: list[int], total: int) -> int:
        value.append(1)
        return total + sum(value)

    numbers = TypeCode('{"type":"array","elementType":"long","containsNull":true}')
    fold = Fold("kept", UserCode(add_up, ("value", "aggregate")), Start(0))
    store = StoreCode("kept", "window", STRING, LONG, 100)
    jvm = Jvm(stage_of(windows(fold), store, value=numbers, out_key=WINDOWED, sends_table=True))

    answer = jvm.batch(("a", [10], 20), ("a", [20], 22))

    assert sorted(new for new, _ in answer.values) == sums


def test_windows_that_stream_time_has_jumped_past_are_sent_only_if_that_is_corrected() -> None:
    records = [("a", "x", 5), ("b", "x", 1000)]

    assert _told(_on_close().batch(*records)) == []
    assert _told(_on_close(emit_all=True).batch(*records)) == [(("a", 0, 10), 1)]


def test_windows_that_were_not_sent_yet_are_to_be_kept() -> None:
    jvm = _on_close(emit_all=True)

    jvm.batch(("a", "x", 5), ("a", "x", 27))

    # Of windows of 10, all that end at 27 or before were sent.
    assert jvm.clocks[0]["keep:kept"] == 18


def test_the_wall_clock_closes_windows_when_no_record_comes() -> None:
    jvm = _on_close(close_idle_ms=20)
    jvm.batch(Fed(None, None, 1000, TOLD), ("a", "x", 5))

    quiet = jvm.batch(Fed(None, None, 1010, TOLD), Fed(None, None, 1010, TICK))
    closed = jvm.batch(Fed(None, None, 1030, TOLD), Fed(None, None, 1030, TICK))

    assert _told(quiet) == []
    assert _told(closed) == [(("a", 0, 10), 1)]


def test_nobody_is_idle_while_records_wait() -> None:
    jvm = _on_close(close_idle_ms=20)
    jvm.batch(Fed(None, None, 1000, TOLD), ("a", "x", 5))

    assert _told(jvm.batch(Fed(None, None, 1030, TOLD), Fed(None, None, 1030, BUSY_TICK))) == []


def test_closed_windows_are_asked_for_only_when_there_are_some() -> None:
    jvm = _on_close()
    jvm.batch(("a", "x", 5), ("a", "x", 9))
    jvm.questions.clear()

    jvm.batch(*[("a", "x", time) for time in range(10, 40)])

    # One for what there was before, and one for each window that closes.
    assert [question for question, *_ in jvm.questions] == ["scan_times"] * 4


def test_the_last_update_of_each_window_comes_out_per_batch() -> None:
    jvm = _jvm(WINDOWS, last=True)

    answer = jvm.batch(("a", "x", 1), ("b", "x", 2), ("a", "x", 3), ("a", "x", 11), ("b", "x", 12))

    assert _told(answer) == [
        (("b", 0, 10), 1),
        (("a", 0, 10), 2),
        (("a", 10, 20), 1),
        (("b", 10, 20), 1),
    ]


def test_a_session_that_grew_within_a_batch_is_told_once() -> None:
    jvm = _jvm(SessionWindowsWork(COUNT, Emission(), 5, 0), "session", 5, last=True)

    first = jvm.batch(("a", "x", 1), ("a", "x", 3))
    second = jvm.batch(("a", "x", 6), ("a", "x", 7))

    assert _told(first) == [(("a", 1, 3), 2)]
    assert _told(second) == [(("a", 1, 3), None), (("a", 1, 7), 4)]

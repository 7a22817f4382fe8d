"""Windows: what their durations may be, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import brookmere as bm

MINUTE = timedelta(minutes=1)


def test_durations_are_timedeltas_or_milliseconds() -> None:
    assert bm.TimeWindows(MINUTE, grace=timedelta(seconds=5)) == bm.TimeWindows("60000ms", grace="5000ms")
    assert bm.SlidingWindows(MINUTE) == bm.SlidingWindows("60000ms")
    assert bm.SessionWindows(MINUTE, grace=MINUTE) == bm.SessionWindows("60000ms", grace="60000ms")
    assert bm.JoinWindows(MINUTE) == bm.JoinWindows("60000ms")


def test_time_windows_tumble_unless_they_are_told_to_hop() -> None:
    assert bm.TimeWindows("10ms").advance_ms == 10
    assert bm.TimeWindows("10ms", advance="4ms").advance_ms == 4


def test_join_windows_may_be_asymmetric() -> None:
    windows = bm.JoinWindows("10ms", after="0s", grace="5ms")

    assert (windows.before_ms, windows.after_ms, windows.grace_ms) == (10, 0, 5)


def test_one_side_of_join_windows_may_be_negative() -> None:
    windows = bm.JoinWindows(before="-3ms", after="10ms")

    assert (windows.before_ms, windows.after_ms) == (-3, 10)


@pytest.mark.parametrize(
    ("windows", "retention", "wait", "length"),
    [
        (bm.TimeWindows("10ms", advance="5ms", grace="3ms"), 13, 3, 10),
        (bm.SlidingWindows("10ms", grace="3ms"), 23, 3, 10),
        (bm.SessionWindows("10ms", grace="3ms"), 13, 13, None),
        (bm.UnlimitedWindows(), 2**63 - 1, 0, None),
    ],
)
def test_windows_know_how_long_they_are_needed(
    windows: Any, retention: int, wait: int, length: int | None
) -> None:
    assert windows.retention_ms == retention
    assert windows.wait_ms == wait
    assert windows.length_ms == length


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: bm.TimeWindows("0s"), "size of TimeWindows must not be zero"),
        (lambda: bm.TimeWindows(-MINUTE), "size of TimeWindows must not be negative, found -60000 ms"),
        (lambda: bm.TimeWindows("10ms", advance="0s"), "advance of TimeWindows must not be zero"),
        (lambda: bm.TimeWindows("10ms", advance="11ms"), "11 ms, longer than the size of 10 ms"),
        (lambda: bm.TimeWindows("10ms", grace="-1ms"), "grace of TimeWindows must not be negative"),
        (lambda: bm.TimeWindows(timedelta(microseconds=1)), "whole milliseconds"),
        (lambda: bm.TimeWindows("1.5ms"), "whole milliseconds, found '1.5ms'"),
        (lambda: bm.TimeWindows(True), "must be a duration, found True"),  # type: ignore[arg-type]
        (lambda: bm.TimeWindows(f"{2**63}ms"), "longer than the longest timedelta"),
        (lambda: bm.SlidingWindows("-1ms"), "difference of SlidingWindows must not be negative"),
        (lambda: bm.SlidingWindows("1ms", grace="-1ms"), "grace of SlidingWindows must not be negative"),
        (lambda: bm.SessionWindows("-1ms"), "gap of SessionWindows must not be negative"),
        (lambda: bm.SessionWindows("1ms", grace="-1ms"), "grace of SessionWindows must not be negative"),
        (lambda: bm.UnlimitedWindows(-1), "start of UnlimitedWindows must be a time from 1970 on, found -1"),
        (lambda: bm.JoinWindows(), "JoinWindows needs a span"),
        (lambda: bm.JoinWindows(before="1ms"), "JoinWindows needs a span"),
        (lambda: bm.JoinWindows("-1ms"), "end before they begin"),
        (lambda: bm.JoinWindows("1ms", grace="-1ms"), "grace of JoinWindows must not be negative"),
    ],
)
def test_windows_without_meaning_are_refused_at_the_users_line(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(bm.errors.TopologyError, match=told) as caught:
        make()

    assert __file__ in str(caught.value)

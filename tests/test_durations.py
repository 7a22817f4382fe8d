"""Durations are timedeltas or texts with units; a bare number is refused everywhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import brookmere as bm
from brookmere.durations import to_seconds, to_timedelta


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("250ms", timedelta(milliseconds=250)),
        ("5s", timedelta(seconds=5)),
        ("1.5s", timedelta(milliseconds=1500)),
        ("15m", timedelta(minutes=15)),
        ("2h", timedelta(hours=2)),
        ("1d", timedelta(days=1)),
        ("1w", timedelta(days=7)),
        ("1h 30m", timedelta(minutes=90)),
        ("1h30m", timedelta(minutes=90)),
        (" 10 s ", timedelta(seconds=10)),
        ("-5s", timedelta(seconds=-5)),
        ("0s", timedelta(0)),
    ],
)
def test_text_with_units_is_a_duration(text: str, expected: timedelta) -> None:
    assert to_timedelta(text) == expected
    assert to_seconds(text) == expected.total_seconds()


@pytest.mark.parametrize(
    "text", ["", "5", "s", "5 parsecs", "5s later", "five seconds", "1e3s", "99999999999d"]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a duration|longer than the longest"):
        to_timedelta(text)


@pytest.mark.parametrize("number", [5, 5.0, 0])
def test_bare_number_is_refused_with_the_text_that_was_probably_meant(number: float) -> None:
    with pytest.raises(
        TypeError, match=rf'needs a unit, found the number {number}.*"{number}s" or "{number}ms"'
    ):
        to_timedelta(number)


def _stream() -> bm.KStream:
    return bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text()).stream("in")


ANYTHING: Any = lambda *_: None  # noqa: E731


@pytest.mark.parametrize(
    "call",
    [
        lambda: bm.TimeWindows(5),
        lambda: bm.TimeWindows("5s", advance=1),
        lambda: bm.TimeWindows("5s", grace=1),
        lambda: bm.SlidingWindows(5),
        lambda: bm.SessionWindows(5),
        lambda: bm.JoinWindows(5),
        lambda: bm.JoinWindows(before=5, after="5s"),
        lambda: bm.until_time_limit(5),
        lambda: bm.window_store("a", key=str, value=str, window=5, retention="5s"),
        lambda: bm.session_store("a", key=str, value=str, retention=5),
        lambda: bm.versioned_store("a", key=str, value=str, history=5),
        lambda: bm.python_async(ANYTHING, timeout=5),
        lambda: bm.Windowed(bm.Text(), size=5),
        lambda: bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text()).table("in", ttl=5),
        lambda: bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text()).table("in", history=5),
        lambda: _stream().dedupe(within=5),
        lambda: _stream().group_by_key().windowed_by(bm.TimeWindows("5s")).count(retention=5),
    ],
)
def test_bare_number_is_refused_where_the_dsl_takes_a_duration(call: Callable[[], object]) -> None:
    with pytest.raises(
        bm.errors.TopologyError, match=r"the number 5, which has no unit|needs a unit|the number 1"
    ):
        call()


def test_text_and_timedelta_mean_the_same() -> None:
    assert bm.TimeWindows("5m", advance="1m") == bm.TimeWindows(
        timedelta(minutes=5), advance=timedelta(minutes=1)
    )
    assert bm.Windowed(bm.Text(), size="5m") == bm.Windowed(bm.Text(), size=timedelta(minutes=5))

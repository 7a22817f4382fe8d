"""Stream time that advances with the wall clock when idle, so that the last results are sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Literal

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

Engine = Literal["local", "spark"]
SECOND = timedelta(seconds=1)


def _windows(windows: Any, **options: Any) -> Callable[[bm.KStream], bm.KTable]:
    def count(stream: bm.KStream) -> bm.KTable:
        return stream.group_by_key().windowed_by(windows, emit="close", **options).count()

    return count


def _suppressed(stream: bm.KStream) -> bm.KTable:
    counts = stream.group_by_key().windowed_by(bm.TimeWindows("10s")).count()
    return counts.suppress(bm.until_window_closes(), close_idle_after="5s")


KINDS: dict[str, tuple[Callable[[bm.KStream], bm.KTable], int]] = {
    "tumbling": (
        _windows(bm.TimeWindows("10s"), close_idle_after=5 * SECOND),
        7,
    ),
    "sliding": (
        _windows(bm.SlidingWindows("10s"), close_idle_after=5 * SECOND),
        8,
    ),
    "session": (
        _windows(bm.SessionWindows("10s"), close_idle_after=5 * SECOND),
        11,
    ),
    "suppress": (_suppressed, 7),
}


def _program(result: Callable[[bm.KStream], bm.KTable]) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("idle", key=bm.Text(), value=bm.Text())
    result(app.stream("in")).to_stream(lambda key, value: key.key).to("out", key=bm.Text(), value=bm.Long())
    return app


@pytest.mark.parametrize("kind", KINDS)
def test_last_window_is_sent_once_the_task_is_idle_long_enough(kind: str) -> None:
    result, seconds = KINDS[kind]

    with TopologyTestDriver(_program(result)) as driver:
        driver.input_topic("in").pipe_input("a", "x", timestamp=3000)
        output = driver.output_topic("out")
        for _ in range(seconds - 1):
            driver.advance_wall_clock(SECOND)
        assert output.is_empty()
        driver.advance_wall_clock(SECOND)

        assert output.read_key_value() == ("a", 1)
        driver.advance_wall_clock(100 * SECOND)
        assert output.is_empty()


def test_time_does_not_advance_until_the_task_is_idle_long_enough() -> None:
    program = _program(_windows(bm.TimeWindows(SECOND), close_idle_after=5 * SECOND))

    with TopologyTestDriver(program) as driver:
        topic, output = driver.input_topic("in"), driver.output_topic("out")
        topic.pipe_input("a", "x", timestamp=0)
        driver.advance_wall_clock(4 * SECOND)
        # It comes late by the wall clock, and in time by stream time.
        topic.pipe_input("a", "y", timestamp=500)
        driver.advance_wall_clock(4 * SECOND)
        assert output.is_empty()
        driver.advance_wall_clock(SECOND)

        assert output.read_key_values_to_list() == [("a", 2)]


def test_records_behind_the_advanced_time_are_late() -> None:
    program = _program(_windows(bm.TimeWindows(SECOND), close_idle_after=5 * SECOND, late_to="late"))

    with TopologyTestDriver(program) as driver:
        topic = driver.input_topic("in")
        topic.pipe_input("a", "x", timestamp=0)
        driver.advance_wall_clock(5 * SECOND)
        topic.pipe_input("a", "y", timestamp=500)

        late = driver.output_topic("late").read_record()
        assert (late.key, late.value, late.timestamp) == ("a", "y", 500)
        assert dict(late.headers)["brookmere.dropped.stream_time"] == b"5000"


def test_only_idle_tasks_advance() -> None:
    app = bm.StreamsBuilder("idle", key=bm.Text(), value=bm.Text())
    windows = bm.TimeWindows("10s")
    counts = app.stream("in").group_by_key().windowed_by(windows, emit="close", close_idle_after="5s")
    counts.count().to_stream(lambda key, value: key.key).to("out", key=bm.Text(), value=bm.Long())

    with TopologyTestDriver(app, partitions=2) as driver:
        for _ in range(12):
            driver.pipe_records([("in", bm.Record("busy", "x", 0, partition=0))])
            driver.advance_wall_clock(SECOND)
        assert driver.output_topic("out").is_empty()
        driver.pipe_records([("in", bm.Record("idle", "x", 0, partition=1))])
        for _ in range(12):
            driver.pipe_records([("in", bm.Record("busy", "x", 0, partition=0))])
            driver.advance_wall_clock(SECOND)

        assert driver.output_topic("out").read_key_values_to_list() == [("idle", 1)]


@pytest.mark.parametrize("how", ["left", "outer"])
def test_unmatched_record_is_sent_by_an_idle_join(how: Literal["left", "outer"]) -> None:
    app = bm.StreamsBuilder("idle", key=bm.Text(), value=bm.Text())
    app.stream("left").join(
        app.stream("right"),
        lambda left, right: F.concat_ws("+", left, right),
        how=how,
        windows=bm.JoinWindows("10s"),
        close_idle_after="5s",
    ).to("out")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("left").pipe_input("a", "l", timestamp=0)
        driver.advance_wall_clock(10 * SECOND)
        assert driver.output_topic("out").is_empty()
        driver.advance_wall_clock(SECOND)

        assert driver.output_topic("out").read_key_values_to_list() == [("a", "l")]


def test_idle_time_survives_restarts_and_is_the_same_in_a_query() -> None:
    found: dict[str, list[Any]] = {}
    engines: list[Engine] = ["local", "spark"]
    for engine in engines:
        program = _program(_windows(bm.TimeWindows("10s"), close_idle_after=5 * SECOND))
        with TopologyTestDriver(program, engine=engine, partitions=2) as driver:
            topic = driver.input_topic("in")
            for key in "abc":
                topic.pipe_input(key, "x", timestamp=3000)
            driver.advance_wall_clock(6 * SECOND)
            driver.restart()
            driver.advance_wall_clock(SECOND)
            records = driver.output_topic("out").read_records_to_list()
            found[engine] = sorted((r.key, r.value, r.timestamp) for r in records)

    assert found["local"] == [(key, 1, 3000) for key in "abc"]
    assert found["spark"] == found["local"]


def test_program_without_idle_time_does_not_receive_the_clock() -> None:
    app = bm.StreamsBuilder("idle", key=bm.Text(), value=bm.Text())
    windows = bm.TimeWindows(SECOND)
    app.stream("in").group_by_key().windowed_by(windows, emit="close").count().to_stream().to("out")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_input("a", "x", timestamp=0)
        driver.advance_wall_clock(100 * SECOND)

        assert driver.output_topic("out").is_empty()

"""Each correction, beside what Kafka Streams does: the examples of docs/reference/compatibility.md."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

Inputs = list[tuple[str, str, str | None, int]]


def _slash(left: F.Column, right: F.Column) -> F.Column:
    return F.concat(F.coalesce(left, F.lit("null")), F.lit("+"), F.coalesce(right, F.lit("null")))


def _builder(corrections: list[str]) -> bm.StreamsBuilder:
    return bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text(), corrections=corrections)


def _join(corrections: list[str], grace: int, how: str) -> bm.StreamsBuilder:
    app = _builder(corrections)
    windows = bm.JoinWindows("5ms", grace=f"{grace}ms")
    app.stream("left").join(app.stream("right"), _slash, windows=windows, how=how).to("out")  # type: ignore[arg-type]
    return app


def _written(app: bm.StreamsBuilder, inputs: Inputs) -> list[tuple[str, str | None]]:
    with TopologyTestDriver(app) as driver:
        for topic, key, value, time in inputs:
            driver.input_topic(topic).pipe_input(key, value, timestamp=time)
        return driver.output_topic("out").read_key_values_to_list()


@pytest.mark.parametrize(("corrections", "written"), [([], [("A", "l+late")]), (["join-late-records"], [])])
def test_late_record_of_a_stream_join(corrections: list[str], written: list[tuple[str, str]]) -> None:
    inputs: Inputs = [("left", "A", "l", 0), ("right", "B", "x", 9), ("right", "A", "late", 1)]

    assert _written(_join(corrections, 0, "inner"), inputs) == written


@pytest.mark.parametrize(
    ("corrections", "written"),
    [
        ([], [("A", "early+null"), ("A", "early+match")]),
        (["join-unmatched-out-of-order"], [("A", "early+match")]),
    ],
)
def test_unmatched_record_that_comes_out_of_order(
    corrections: list[str], written: list[tuple[str, str]]
) -> None:
    inputs: Inputs = [("left", "B", "x", 50), ("left", "A", "early", 10), ("right", "A", "match", 12)]

    assert _written(_join(corrections, 100, "left"), inputs) == written


def test_unmatched_records_that_wait_for_grace_come_out_in_order_of_time() -> None:
    inputs: Inputs = [
        ("left", "B", "x", 50),
        ("left", "A", "early", 10),
        ("left", "C", "y", 30),
        ("right", "D", "z", 56 + 20),
        ("right", "D", "z", 500),
    ]

    written = _written(_join(["join-unmatched-out-of-order"], 20, "left"), inputs)

    assert written == [("A", "early+null"), ("C", "y+null"), ("B", "x+null")]


@pytest.mark.parametrize(
    ("corrections", "written"), [([], [("A", "late+r")]), (["table-join-late-records"], [])]
)
def test_late_record_of_a_join_with_a_table(corrections: list[str], written: list[tuple[str, str]]) -> None:
    app = _builder(corrections)
    table = app.table("right", store="past", history="100ms")
    app.stream("left").join(table, _slash, grace="5ms").to("out")
    inputs: Inputs = [("right", "A", "r", 1), ("left", "A", "x", 10), ("left", "A", "late", 3)]

    assert _written(app, inputs) == written


@pytest.mark.parametrize(("corrections", "counted"), [([], [1, 2]), (["window-null-values"], [1])])
def test_null_value_in_a_window(corrections: list[str], counted: list[int]) -> None:
    app = _builder(corrections)
    app.stream("left").group_by_key().windowed_by(bm.TimeWindows("10ms")).count().to_stream(
        lambda key, value: key.key
    ).to("out")

    written = _written(app, [("left", "A", "v", 1), ("left", "A", None, 2)])

    assert [count for _, count in written] == counted


@pytest.mark.parametrize("batches", [1, 3])
@pytest.mark.parametrize(("corrections", "starts"), [([], ["0"]), (["window-close-jumps"], ["0", "5", "10"])])
def test_windows_that_stream_time_jumps_past(corrections: list[str], starts: list[str], batches: int) -> None:
    app = _builder(corrections)
    windows = bm.TimeWindows("10ms", advance="5ms")
    counts = app.stream("left").group_by_key().windowed_by(windows, emit="close").count()
    counts.to_stream(lambda key, value: key.start.cast("string")).to("out")
    records = [("left", bm.Record("A", "v", time)) for time in (0, 10, 60)]
    with TopologyTestDriver(app) as driver:
        for n in range(0, 3, 3 // batches):
            driver.pipe_records(records[n : n + 3 // batches])
            driver.restart()
        written = driver.output_topic("out").read_key_values_to_list()

    assert [start for start, _ in written] == starts

"""late_to=: dropped records go to a topic, with the reason, and nothing else changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

SECOND = timedelta(seconds=1)
WINDOWS: dict[str, tuple[Any, list[str | None]]] = {
    "tumbling": (bm.TimeWindows(SECOND), ["0/1000"]),
    "hopping": (bm.TimeWindows("2s", advance=SECOND), ["0/2000"]),
    "sliding": (bm.SlidingWindows(SECOND), [None]),
    "session": (bm.SessionWindows(SECOND), ["900/900"]),
}


def _app() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("late", key=bm.Text(), value=bm.Text())


def _dropped(program: bm.StreamsBuilder, *records: tuple[str, bm.Record]) -> list[dict[str, Any]]:
    with TopologyTestDriver(program) as driver:
        for topic, record in records:
            driver.pipe_records([(topic, record)])
        found = driver.output_topic("late").read_records_to_list()
        return [
            {
                "record": (record.key, record.value, record.timestamp),
                **{
                    name.removeprefix("brookmere.dropped."): data.decode()
                    for name, data in record.headers
                    if data is not None
                },
            }
            for record in found
        ]


@pytest.mark.parametrize("kind", WINDOWS)
def test_late_records_of_windows_carry_stream_time_and_window(kind: str) -> None:
    windows, bounds = WINDOWS[kind]
    app = _app()
    app.stream("in").group_by_key().windowed_by(windows, late_to="late").count(name="count")

    found = _dropped(app, ("in", bm.Record("a", "x", 10_000)), ("in", bm.Record("b", "y", 900)))

    window = [{} if bound is None else {"window": bound} for bound in bounds]
    reported = {"reason": "late", "node": "count", "stream_time": "10000"}
    assert found == [{"record": ("b", "y", 900), **reported, **one} for one in window]


def test_records_without_a_key_are_sent_with_the_reason() -> None:
    app = _app()
    app.stream("in").group_by_key().windowed_by(bm.TimeWindows(SECOND), late_to="late").count()

    (found,) = _dropped(app, ("in", bm.Record(None, "x", 0)))

    assert (found["record"], found["reason"]) == ((None, "x", 0), "null-key")


def test_each_side_of_a_stream_join_reports_what_it_drops() -> None:
    app = _app()
    left, right = app.stream("left"), app.stream("right", value=bm.Long())
    windows = bm.JoinWindows(SECOND)
    left.join(
        right, lambda one, other: F.concat(one, other), windows=windows, late_to="late", name="join"
    ).to("out")

    with TopologyTestDriver(app) as driver:
        driver.pipe_records([("left", bm.Record(None, "l", 5)), ("right", bm.Record("a", None, 6))])
        one, other = driver.output_topic("late").read_records_to_list()

    assert (one.key, one.value, one.timestamp) == (None, "l", 5)
    assert dict(one.headers)["brookmere.dropped.reason"] == b"null-key"
    assert dict(one.headers)["brookmere.dropped.node"] == b"join-this-join"
    assert (other.key, other.value, other.timestamp) == ("a", None, 6)
    assert dict(other.headers)["brookmere.dropped.reason"] == b"null-value"


def test_join_with_a_table_reports_what_it_drops() -> None:
    app = _app()
    app.stream("in").join(app.table("table"), lambda left, right: left, late_to="late").to("out")

    (found,) = _dropped(app, ("in", bm.Record(None, "x", 3)))

    assert (found["record"], found["reason"]) == ((None, "x", 3), "null-key")


def test_join_with_grace_reports_late_records_when_it_drops_them() -> None:
    app = bm.StreamsBuilder("late", key=bm.Text(), value=bm.Text(), corrections=["table-join-late-records"])
    table = app.table("table", store="rows", history=timedelta(seconds=10))
    app.stream("in").join(table, lambda left, right: left, grace=SECOND, late_to="late").to("out")

    (found,) = _dropped(app, ("in", bm.Record("a", "x", 5000)), ("in", bm.Record("a", "y", 3000)))

    assert (found["record"], found["reason"], found["stream_time"]) == (("a", "y", 3000), "late", "5000")


def _named(**options: Any) -> bm.Topology:
    app = _app()
    counts = app.stream("in").group_by_key().windowed_by(bm.TimeWindows(SECOND), **options).count()
    counts.to_stream(lambda key, value: key.key).to("out", key=bm.Text(), value=bm.Long())
    return app.build()


def test_no_other_name_changes() -> None:
    plain, late = _named(), _named(late_to="late")

    more = [node for node in late.nodes if node.name not in {other.name for other in plain.nodes}]
    assert [node.name for node in more] == ["KSTREAM-AGGREGATE-0000000003-late"]
    assert "late" not in plain.describe()
    assert "Sink: KSTREAM-AGGREGATE-0000000003-late (topic: late)" in late.describe()


def test_results_are_the_same_with_and_without() -> None:
    def results(topology: bm.Topology) -> list[Any]:
        with TopologyTestDriver(topology) as driver:
            for time in (500, 1500, 700, None, 2500, 100):
                key = "a" if time is not None else None
                driver.input_topic("in").pipe_input(key, "x", timestamp=time or 0)
            found = driver.output_topic("out").read_records_to_list()
            return [(r.key, r.value, r.timestamp, r.headers) for r in found]

    assert results(_named()) == results(_named(late_to="late"))


def test_dropped_records_come_out_of_a_query_too() -> None:
    with TopologyTestDriver(_named(late_to="late"), engine="spark", partitions=2) as driver:
        topic = driver.input_topic("in")
        for key in "abc":
            topic.pipe_input(key, "x", timestamp=5000)
            topic.pipe_input(key, "y", timestamp=100)
        late = driver.output_topic("late").read_records_to_list()

    assert sorted((r.key, r.value) for r in late) == [("a", "y"), ("b", "y"), ("c", "y")]


@pytest.mark.parametrize("topic", ["", "no spaces", 5])
def test_late_to_that_is_not_a_topic_is_refused(topic: Any) -> None:
    with pytest.raises(bm.errors.TopologyError, match="topic"):
        _named(late_to=topic)

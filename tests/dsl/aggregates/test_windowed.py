"""Aggregates of windows: their operators, stores, keys and refusals."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import brookmere as bm
from brookmere.serde.default import Natural
from brookmere.topology.nodes import ProcessorNode, SinkNode, Store
from brookmere.topology.operators import Literal, ShortAggregate, WindowAggregate
from tests.topology.programs import any_function, builder

TUMBLING = bm.TimeWindows("10ms", grace="5ms")
SESSIONS = bm.SessionWindows("10ms", grace="5ms")


def aggregates(app: bm.StreamsBuilder) -> list[WindowAggregate]:
    nodes = [node for node in app.build().nodes if isinstance(node, ProcessorNode)]
    return [node.operator for node in nodes if isinstance(node.operator, WindowAggregate)]


def store_of(app: bm.StreamsBuilder) -> Store:
    (store,) = app.build().stores
    return store


def sink_key(app: bm.StreamsBuilder) -> Any:
    (sink,) = [node for node in app.build().nodes if isinstance(node, SinkNode) and not node.internal]
    return sink.key


def test_count_of_windows_starts_at_zero_and_adds_one() -> None:
    app = builder()
    app.stream("in").group_by_key().windowed_by(TUMBLING).count(store="n")

    (found,) = aggregates(app)

    assert found.windows == TUMBLING
    assert found.initial == Literal(0)
    assert found.merger is None
    assert found.emit == "update"
    assert not isinstance(found.step, tuple)
    assert found.step.call(41) == 42


def test_counts_of_merged_sessions_are_added() -> None:
    app = builder()
    app.stream("in").group_by_key().windowed_by(SESSIONS).count()

    (found,) = aggregates(app)

    assert found.merger is not None
    assert found.merger.call(2, 3) == 5


def test_reduce_merges_sessions_with_its_own_function() -> None:
    app = builder()
    app.stream("in").group_by_key().windowed_by(SESSIONS).reduce(any_function)

    (found,) = aggregates(app)

    assert found.initial is None
    assert found.merger is found.step


def test_aggregate_of_sessions_has_a_merger() -> None:
    app = builder()
    windowed = app.stream("in").group_by_key().windowed_by(SESSIONS)
    windowed.aggregate("", any_function, merger=any_function)

    (found,) = aggregates(app)

    assert found.initial == Literal("")
    assert found.merger is not None


def test_short_form_holds_its_columns() -> None:
    app = builder()
    app.stream("in").group_by_key().windowed_by(SESSIONS).agg(n=bm.count(), low=bm.min("ask"))

    (found,) = aggregates(app)

    assert found.step == (ShortAggregate("n", "count", None), ShortAggregate("low", "min", "ask"))
    assert found.merger is None


@pytest.mark.parametrize("by", ["keyword", "method"])
def test_results_may_be_sent_at_close(by: str) -> None:
    app = builder()
    grouped = app.stream("in").group_by_key()
    if by == "keyword":
        windowed = grouped.windowed_by(TUMBLING, emit="close")
    else:
        windowed = grouped.windowed_by(TUMBLING).emit_strategy("close")
    windowed.count()

    (found,) = aggregates(app)

    assert found.emit == "close"


def test_windows_can_close_when_records_stop_arriving() -> None:
    app = builder()
    grouped = app.stream("in").group_by_key()
    grouped.windowed_by(TUMBLING, emit="close", close_idle_after=timedelta(seconds=2)).count()

    (found,) = aggregates(app)

    assert found.close_idle_ms == 2000


@pytest.mark.parametrize(
    ("windows", "kind", "retention", "length"),
    [
        (bm.TimeWindows("10ms", advance="5ms", grace="3ms"), "window", 13, 10),
        (bm.SlidingWindows("10ms", grace="3ms"), "window", 23, 10),
        (bm.SessionWindows("10ms", grace="3ms"), "session", 13, None),
        (bm.UnlimitedWindows(), "window", 2**63 - 1, None),
    ],
)
def test_store_keeps_windows_as_long_as_they_change(
    windows: Any, kind: str, retention: int, length: int | None
) -> None:
    app = builder()
    app.stream("in").group_by_key().windowed_by(windows).count(store="n", store_type="memory")

    store = store_of(app)

    assert (store.name, store.kind, store.store_type) == ("n", kind, "memory")
    assert (store.retention_ms, store.window_ms) == (retention, length)
    assert store.queryable


def test_retention_may_be_longer() -> None:
    app = builder()
    app.stream("in").group_by_key().windowed_by(TUMBLING).count(retention=timedelta(hours=1))

    assert store_of(app).retention_ms == 3_600_000


def test_all_too_short_retentions_are_reported_by_build() -> None:
    app = builder()
    grouped = app.stream("in").group_by_key()
    grouped.windowed_by(TUMBLING).count(store="a", retention="14ms")
    grouped.windowed_by(SESSIONS).reduce(any_function, store="b", retention="14ms")

    with pytest.raises(bm.errors.TopologyError) as caught:
        app.build()

    first, second = caught.value.faults
    assert first.what.startswith("The retention of store 'a' is too short: 14 ms")
    assert "at least 15 ms" in first.remedy
    assert "store 'b'" in second.what


@pytest.mark.parametrize(
    ("windows", "serde"),
    [
        (bm.TimeWindows("10ms"), bm.Windowed(bm.Text(), size=timedelta(milliseconds=10))),
        (bm.SlidingWindows("10ms"), bm.Windowed(bm.Text(), size=timedelta(milliseconds=10))),
        (bm.SessionWindows("10ms"), bm.Windowed(bm.Text(), session=True)),
        (bm.UnlimitedWindows(), bm.Windowed(bm.Text())),
    ],
)
def test_windowed_keys_are_written_in_the_binary_form_of_their_windows(
    windows: Any, serde: bm.Windowed
) -> None:
    app = builder()
    app.stream("in").group_by_key().windowed_by(windows).count().to_stream().to("out")

    assert sink_key(app) == serde


def test_key_whose_type_is_not_known_yet_is_left_open_inside_its_window() -> None:
    app = builder()
    app.stream("in").group_by(any_function).windowed_by(TUMBLING).count().to_stream().to("out")

    assert sink_key(app) == bm.Windowed(Natural(), size=timedelta(milliseconds=10))


def test_windowed_keys_may_be_written_as_json() -> None:
    app = builder()
    readable = bm.Windowed(bm.Text(), form="json")
    app.stream("in").group_by_key().windowed_by(SESSIONS).count().to_stream().to("out", key=readable)

    assert sink_key(app) == readable


@pytest.mark.parametrize(
    ("windows", "serde", "message"),
    [
        (
            TUMBLING,
            bm.Windowed(bm.Text(), size=timedelta(milliseconds=11)),
            "are 10 ms long, found a size of 11",
        ),
        (TUMBLING, bm.Windowed(bm.Text(), session=True), "are time windows"),
        (SESSIONS, bm.Windowed(bm.Text()), "are session windows"),
        (bm.UnlimitedWindows(), bm.Windowed(bm.Text(), size=timedelta(days=1)), "differ in length"),
    ],
)
def test_sink_refuses_the_serde_of_other_windows(windows: Any, serde: bm.Windowed, message: str) -> None:
    counts = builder().stream("in").group_by_key().windowed_by(windows).count().to_stream()

    with pytest.raises(bm.errors.TopologyError, match=message):
        counts.to("out", key=serde)


def test_windowed_table_can_be_regrouped_and_then_sends_old_values() -> None:
    app = builder()
    app.stream("in").group_by_key().windowed_by(TUMBLING).count().group_by(any_function).count()

    (found,) = aggregates(app)

    assert found.send_old


def test_cogrouped_streams_share_windows_and_store() -> None:
    app = builder()
    left, right = (app.stream(topic).group_by_key() for topic in ("left", "right"))
    cogrouped = left.cogroup(any_function).cogroup(right, any_function)
    cogrouped.windowed_by(SESSIONS).aggregate("", merger=any_function, store="both").to_stream().to("out")

    folds = aggregates(app)

    assert [fold.windows for fold in folds] == [SESSIONS, SESSIONS]
    assert [fold.store for fold in folds] == ["both", "both"]
    assert all(fold.merger is not None for fold in folds)
    assert store_of(app).kind == "session"
    assert sink_key(app) == bm.Windowed(bm.Text(), session=True)


def test_corrections_of_windows_reach_the_operators() -> None:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text(), corrections=["all"])
    grouped = app.stream("in").group_by_key()
    grouped.windowed_by(TUMBLING, emit="close").count()
    grouped.cogroup(any_function).windowed_by(TUMBLING).aggregate("")

    count, cogroup = aggregates(app)

    assert count.skip_nulls
    assert count.emit_all
    assert cogroup.skip_nulls


def _windowed(windows: Any) -> bm.dsl.WindowedKStream:
    return builder().stream("in").group_by_key().windowed_by(windows)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _windowed(10), "windowed_by\\(\\) needs windows, found 10"),
        (lambda: _windowed(bm.JoinWindows("10ms")), "windowed_by\\(\\) needs windows"),
        (lambda: _windowed(bm.UnlimitedWindows()).emit_strategy("close"), "never close"),
        (lambda: _windowed(TUMBLING).emit_strategy("end"), "There is no emit strategy 'end'"),  # type: ignore[arg-type]
        (lambda: _windowed(TUMBLING).emit_strategy("update", close_idle_after="5ms"), "every update is sent"),
        (lambda: _windowed(TUMBLING).emit_strategy("close", close_idle_after="0s"), "must not be zero"),
        (lambda: _windowed(SESSIONS).aggregate("", any_function), "needs a merger"),
        (
            lambda: _windowed(TUMBLING).aggregate("", any_function, merger=any_function),
            "Only session windows",
        ),
        (lambda: _windowed(SESSIONS).aggregate("", any_function, merger=1), "must be a function"),  # type: ignore[arg-type]
        (lambda: _windowed(TUMBLING).count(retention="1 day"), "must be a duration"),
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(bm.errors.TopologyError, match=message):
        call()


def merged(one: Any, other: Any) -> tuple[bm.StreamsBuilder, bm.KStream]:
    app = builder()
    grouped = app.stream("in").group_by_key()
    streams = [grouped.windowed_by(windows).count().to_stream() for windows in (one, other)]
    return app, streams[0].merge(streams[1])


def sinks(app: bm.StreamsBuilder) -> list[SinkNode]:
    return [node for node in app.build().nodes if isinstance(node, SinkNode)]


SECOND = bm.TimeWindows(timedelta(seconds=1))


def test_merged_windows_of_one_kind_keep_their_serde() -> None:
    app, stream = merged(SECOND, SECOND)

    stream.to("out")

    (sink,) = sinks(app)
    assert sink.key == bm.Windowed(bm.Text(), timedelta(seconds=1))


@pytest.mark.parametrize(
    ("other", "differ"),
    [(bm.SessionWindows(timedelta(seconds=1)), "kind"), (bm.TimeWindows(timedelta(seconds=2)), "size")],
)
def test_merged_windows_that_differ_need_a_serde(other: Any, differ: str) -> None:
    _, stream = merged(SECOND, other)

    with pytest.raises(bm.errors.TopologyError) as error:
        stream.to("out")

    (fault,) = error.value.faults
    assert f"windows of the merged streams, which differ in their {differ}" in fault.what
    assert 'key=bm.Windowed(bm.Text(), form="json")' in (fault.remedy or "")


def test_merged_windows_that_differ_are_refused_behind_other_operators() -> None:
    _, stream = merged(SECOND, bm.SessionWindows(timedelta(seconds=1)))

    with pytest.raises(bm.errors.TopologyError, match="windows of the merged streams"):
        stream.filter(any_function).group_by_key().count().to_stream().to("out")


def test_merged_windows_that_differ_are_written_as_json() -> None:
    app, stream = merged(SECOND, bm.SessionWindows(timedelta(seconds=1)))
    readable = bm.Windowed(bm.Text(), form="json")

    stream.to("out", key=readable)

    (sink,) = sinks(app)
    assert sink.key == readable


def test_no_binary_form_fits_time_and_session_windows() -> None:
    _, stream = merged(SECOND, bm.SessionWindows(timedelta(seconds=1)))

    with pytest.raises(bm.errors.TopologyError, match="both time and session windows"):
        stream.to("out", key=bm.Windowed(bm.Text()))

"""Joins of two streams: their nodes, their stores and their repartitions."""

from __future__ import annotations

from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.operators import JoinBuffer, PassThrough, StreamJoin, StreamTableJoin
from brookmere.topology.windows import JoinWindows
from tests.dsl.nodes import operators, processor, repartitions
from tests.topology.programs import any_function, builder

WINDOWS = JoinWindows(before="5ms", after="8ms", grace="2ms")


def test_stream_join_keeps_both_sides_and_shares_a_clock() -> None:
    app = builder()
    app.stream("l").join(app.stream("r"), any_function, windows=WINDOWS, store="kept", name="meet")

    topology = app.build()

    left, right = operators(topology, StreamJoin)
    assert (left.side, right.side) == ("left", "right")
    assert left.clock == right.clock == "meet-merge"
    assert (left.other, right.other) == ("kept-other-join-store", "kept-this-join-store")
    assert left.unmatched is None
    assert [buffer.store for buffer in operators(topology, JoinBuffer)] == [right.other, left.other]
    assert isinstance(processor(topology, "meet-merge").operator, PassThrough)
    assert {(s.kind, s.retention_ms, s.window_ms, s.queryable) for s in topology.stores} == {
        ("join_window", 15, 13, False)
    }


@pytest.mark.parametrize(
    ("how", "store"), [("left", "kept-left-shared-join-store"), ("outer", "kept-outer-shared-join-store")]
)
def test_left_and_outer_joins_share_the_store_of_unmatched_records(how: Any, store: str) -> None:
    app = builder()
    app.stream("l").join(app.stream("r"), any_function, how=how, windows=WINDOWS, store="kept")

    topology = app.build()

    assert {join.unmatched for join in operators(topology, StreamJoin)} == {store}
    assert [s.name for s in topology.stores if s.kind == "unmatched"] == [store]


def test_left_join_and_outer_join_are_other_names_for_how() -> None:
    one, other = builder(), builder()
    one.stream("l").left_join(one.stream("r"), any_function, windows=WINDOWS)
    one.stream("l").outer_join(one.stream("r"), any_function, windows=WINDOWS)
    for how in ("left", "outer"):
        other.stream("l").join(other.stream("r"), any_function, how=how, windows=WINDOWS)  # type: ignore[arg-type]

    assert one.build() == other.build()


def test_both_rekeyed_sides_are_repartitioned_under_the_name_of_the_join() -> None:
    app = builder()
    left, right = (app.stream(topic).select_key(any_function) for topic in ("l", "r"))
    left.join(right, any_function, windows=WINDOWS, name="meet")

    topology = app.build()

    assert repartitions(topology) == ["meet-left-repartition", "meet-right-repartition"]
    assert topology.copartitioned == (("meet-left-repartition", "meet-right-repartition"),)


def test_corrections_reach_the_joins() -> None:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text(), corrections="all")
    left = app.stream("l")
    left.join(app.stream("r"), any_function, windows=WINDOWS)
    left.join(app.table("t", history="10ms"), any_function, grace="3ms")

    topology = app.build()

    assert all(join.drop_late and join.wait_for_grace for join in operators(topology, StreamJoin))
    (table_join,) = operators(topology, StreamTableJoin)
    assert table_join.drop_late


def test_unmatched_records_can_be_sent_when_records_stop_arriving() -> None:
    app = builder()
    options = {"windows": WINDOWS, "close_idle_after": "100ms"}
    app.stream("l").left_join(app.stream("r"), any_function, **options)  # type: ignore[arg-type]
    app.stream("l").outer_join(app.stream("r"), any_function, **options)  # type: ignore[arg-type]

    assert [join.close_idle_ms for join in operators(app.build(), StreamJoin)] == [100] * 4

"""Joins of streams and of tables: their nodes, their stores, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.join_operators import (
    GlobalJoin,
    JoinBuffer,
    StreamJoin,
    StreamTableJoin,
    TableJoin,
    TableJoinMerge,
)
from brookmere.topology.nodes import ProcessorNode, Topology
from brookmere.topology.operators import KeyNotNull, Operator, PassThrough, TableSource
from brookmere.topology.windows import JoinWindows
from tests.topology.programs import any_function, builder

WINDOWS = JoinWindows(before=5, after=8, grace=2)


def processor(topology: Topology, name: str) -> ProcessorNode:
    (found,) = (node for node in topology.nodes if node.name == name)
    assert isinstance(found, ProcessorNode)
    return found


def operators(topology: Topology, kind: type[Operator]) -> list[Any]:
    nodes = [node for node in topology.nodes if isinstance(node, ProcessorNode)]
    return [node.operator for node in nodes if isinstance(node.operator, kind)]


def repartitions(topology: Topology) -> list[str]:
    return [repartition.topic for repartition in topology.repartitions]


def refused(error: pytest.ExceptionInfo[bm.TopologyError]) -> str:
    (fault,) = error.value.faults
    return f"{fault.what} | {fault.remedy}"


# Stream and stream


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


def test_kafka_streams_names_are_another_way_to_say_how() -> None:
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


def test_joins_without_a_name_share_the_repartition_of_their_stream() -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    rekeyed.join(app.table("a"), any_function)
    rekeyed.join(app.table("b"), any_function)
    rekeyed.join(app.table("c"), any_function, name="third")

    assert repartitions(app.build()) == ["KSTREAM-KEY-SELECT-0000000001-repartition", "third-repartition"]


def test_corrections_reach_the_joins() -> None:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text(), corrections="all")
    left = app.stream("l")
    left.join(app.stream("r"), any_function, windows=WINDOWS)
    left.join(app.table("t", history=10), any_function, grace=3)

    topology = app.build()

    assert all(join.drop_late and join.wait_for_grace for join in operators(topology, StreamJoin))
    (table_join,) = operators(topology, StreamTableJoin)
    assert table_join.drop_late


def test_unmatched_records_can_come_out_when_no_more_records_come() -> None:
    app = builder()
    options = {"windows": WINDOWS, "close_idle_after": 100}
    app.stream("l").left_join(app.stream("r"), any_function, **options)  # type: ignore[arg-type]
    app.stream("l").outer_join(app.stream("r"), any_function, **options)  # type: ignore[arg-type]

    assert [join.close_idle_ms for join in operators(app.build(), StreamJoin)] == [100] * 4


# Null keys


@pytest.mark.parametrize(("how", "filter_kind"), [("inner", KeyNotNull), ("left", PassThrough)])
def test_records_without_a_key_reach_left_joins_through_a_repartition(how: Any, filter_kind: type) -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    rekeyed.join(app.table("t"), any_function, how=how, name="look")

    assert type(processor(app.build(), "look-repartition-filter").operator) is filter_kind


def test_repartition_further_up_keeps_null_keys_for_a_left_join_below() -> None:
    app = builder()
    counts = app.stream("in").group_by(any_function, name="group").count()
    counts.to_stream().left_join(app.global_table("g"), any_function, key=any_function)
    app.stream("other").group_by(any_function, name="alone").count()

    topology = app.build()

    assert isinstance(processor(topology, "group-repartition-filter").operator, PassThrough)
    assert isinstance(processor(topology, "alone-repartition-filter").operator, KeyNotNull)


def test_two_left_joins_of_one_name_are_one_fault() -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    rekeyed.left_join(app.table("a"), any_function, name="look")
    rekeyed.left_join(app.table("b"), any_function, name="look")

    with pytest.raises(bm.TopologyError) as error:
        app.build()

    assert [fault.what.split(",")[0] for fault in error.value.faults] == [
        "Two repartitions are called 'look-repartition'",
        "Two nodes are called 'look'",
    ]


# Stream and table


def test_table_that_is_looked_into_gets_its_store_but_sends_no_old_values() -> None:
    app = builder()
    app.stream("in").join(app.table("t"), any_function, name="look")

    topology = app.build()

    (source,) = operators(topology, TableSource)
    assert source == TableSource("t-STATE-STORE-0000000001")
    assert processor(topology, "look").stores == ("t-STATE-STORE-0000000001",)
    assert processor(topology, "look").operator == StreamTableJoin(
        "KTABLE-SOURCE-0000000003", "inner", operators(topology, StreamTableJoin)[0].joiner
    )


def test_computed_table_is_looked_into_through_the_table_it_is_made_of() -> None:
    app = builder()
    table = app.table("t", store="kept").filter(any_function).map_values(any_function, name="view")
    app.stream("in").join(table, any_function, name="look")

    node = processor(app.build(), "look")

    assert node.stores == ("kept",)
    assert isinstance(node.operator, StreamTableJoin)
    assert node.operator.table == "view"


def test_kept_table_is_looked_into_by_its_own_store() -> None:
    app = builder()
    table = app.table("t", store="kept").filter(any_function, store="filtered")
    app.stream("in").join(table, any_function, name="look")

    assert processor(app.build(), "look").stores == ("filtered",)


def test_cogrouped_table_is_looked_into_by_the_store_of_its_groups() -> None:
    app = builder()
    one, two = (app.stream(topic).group_by_key() for topic in ("a", "b"))
    table = one.cogroup(any_function).cogroup(two, any_function).aggregate("", store="both")
    app.stream("in").join(table, any_function, name="look")

    assert processor(app.build(), "look").stores == ("both",)


def test_stream_and_table_are_copartitioned() -> None:
    app = builder()
    app.stream("in").join(app.table("t"), any_function)

    assert app.build().copartitioned == (("in", "t"),)


def test_global_table_needs_neither_store_nor_copartitioning() -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    joined = rekeyed.join(app.global_table("g", name="all"), any_function, key=any_function, name="look")
    joined.group_by_key(name="later").count()

    topology = app.build()

    node = processor(topology, "look")
    assert node.stores == ()
    assert isinstance(node.operator, GlobalJoin)
    assert node.operator.table == "all"
    assert topology.copartitioned == ()
    assert repartitions(topology) == ["later-repartition"]


# Table and table


def test_table_join_looks_into_the_other_side() -> None:
    app = builder()
    app.table("l", store="left").join(app.table("r", store="right"), any_function, name="both")

    topology = app.build()

    this, other = processor(topology, "both-join-this"), processor(topology, "both-join-other")
    assert (this.stores, other.stores) == (("right",), ("left",))
    assert this.parents == ("KTABLE-SOURCE-0000000001",)
    assert isinstance(this.operator, TableJoin)
    assert this.operator.other == "KTABLE-SOURCE-0000000003"
    assert processor(topology, "both").operator == TableJoinMerge()
    assert processor(topology, "both").stores == ()


def test_join_result_without_a_store_is_looked_into_through_both_sides() -> None:
    app = builder()
    joined = app.table("l", store="left").join(app.table("r", store="right"), any_function)
    app.stream("in").join(joined, any_function, name="look")

    assert processor(app.build(), "look").stores == ("left", "right")


def test_join_result_with_a_store_is_looked_into_by_it() -> None:
    app = builder()
    joined = app.table("l").join(app.table("r"), any_function, store="joined")
    app.stream("in").join(joined, any_function, name="look")

    topology = app.build()

    assert joined.queryable_store_name == "joined"
    assert processor(topology, "look").stores == ("joined",)
    assert operators(topology, TableJoinMerge) == [TableJoinMerge("joined")]


@pytest.mark.parametrize(
    ("how", "asked"), [("inner", [False, False]), ("left", [True, False]), ("outer", [True, True])]
)
def test_sides_that_may_be_alone_send_old_values(how: Any, asked: list[bool]) -> None:
    app = builder()
    app.table("l").join(app.table("r"), any_function, how=how)

    topology = app.build()

    assert [source.send_old for source in operators(topology, TableSource)] == asked
    assert [side.send_old for side in operators(topology, TableJoin)] == [False, False]


def test_join_result_that_is_grouped_asks_both_tables_for_old_values() -> None:
    app = builder()
    app.table("l").join(app.table("r").filter(any_function), any_function).group_by(any_function)

    topology = app.build()

    kinds = (TableSource, TableJoin, TableJoinMerge)
    assert all(operator.send_old for kind in kinds for operator in operators(topology, kind))


def test_filter_of_a_join_gets_old_values_without_a_store() -> None:
    app = builder()
    app.table("l").join(app.table("r"), any_function).filter(any_function, name="kept")

    operator = processor(app.build(), "kept").operator

    assert operator == type(operator)(operator.predicate, send_old=True)  # type: ignore[union-attr, call-arg]


def test_table_can_be_joined_with_itself() -> None:
    app = builder()
    table = app.table("t", store="kept")
    table.join(table, any_function, name="twice")

    topology = app.build()

    assert processor(topology, "twice-join-this").stores == ("kept",)
    assert processor(topology, "twice-join-other").parents == ("KTABLE-SOURCE-0000000001",)
    assert topology.copartitioned == ()


# Refusals


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "A join of two streams needs windows=, found None | Pass JoinWindows"),
        ({"windows": 5}, "A join of two streams needs windows=, found 5"),
        ({"windows": WINDOWS, "grace": 5}, "A join with a KStream takes no grace= | It takes windows"),
        ({"windows": WINDOWS, "close_idle_after": 5}, "close_idle_after has no use in an inner join"),
        ({"windows": WINDOWS, "how": "full"}, "A join with a KStream cannot be 'full' | Use 'inner' or"),
    ],
)
def test_join_of_streams_is_refused_without_what_it_needs(options: dict[str, Any], told: str) -> None:
    app = builder()

    with pytest.raises(bm.TopologyError) as error:
        app.stream("l").join(app.stream("r"), any_function, **options)

    assert refused(error).startswith(told)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"how": "outer"}, "A join with a KTable cannot be 'outer' | Use 'inner' or 'left'"),
        ({"windows": WINDOWS}, "A join with a KTable takes no windows= | It takes grace, late_to, name"),
        ({"store": "kept"}, "A join with a KTable takes no store="),
        ({"grace": -1}, "The grace of join must not be negative, found -1 ms"),
    ],
)
def test_join_with_a_table_is_refused_with_what_it_cannot_do(options: dict[str, Any], told: str) -> None:
    app = builder()

    with pytest.raises(bm.TopologyError) as error:
        app.stream("l").join(app.table("r"), any_function, **options)

    assert refused(error).startswith(told)


def test_join_with_a_global_table_needs_a_key() -> None:
    app = builder()

    with pytest.raises(bm.TopologyError) as error:
        app.stream("l").join(app.global_table("g"), any_function)

    assert refused(error).startswith("A join with a GlobalKTable needs key= | Pass a function")


def test_only_handles_are_joined() -> None:
    app = builder()

    with pytest.raises(bm.TopologyError) as error:
        app.stream("l").join("r", any_function)  # type: ignore[arg-type]
    assert refused(error).startswith("join() takes a stream or a table, found 'r'")

    with pytest.raises(bm.TopologyError) as error:
        app.table("l").join(app.stream("r"), any_function)  # type: ignore[arg-type]
    assert refused(error).startswith("A table is joined with a table, found")


def test_handles_of_two_builders_are_not_joined() -> None:
    app, other = builder(), builder()
    app.stream("l").join(other.table("r"), any_function)
    app.table("t").join(other.table("r"), any_function)

    with pytest.raises(bm.TopologyError) as error:
        app.build()

    assert [fault.what for fault in error.value.faults] == [
        "join() got a stream or table of another StreamsBuilder",
        "join() got a table of another StreamsBuilder",
    ]


def test_illegal_name_is_one_fault() -> None:
    app = builder()
    app.stream("l").join(app.table("r"), any_function, name="not a name")
    app.table("a").join(app.table("b"), any_function, store="not a store")

    with pytest.raises(bm.TopologyError) as error:
        app.build()

    assert len(error.value.faults) == 2

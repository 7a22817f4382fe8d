"""Joins of a stream with a table: which stores they read, what they repartition, and null keys."""

from __future__ import annotations

from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.operators import GlobalJoin, KeyNotNull, PassThrough, StreamTableJoin, TableSource
from tests.dsl.nodes import operators, processor, repartitions
from tests.topology.programs import any_function, builder


def test_table_that_is_read_gets_a_store_but_sends_no_old_values() -> None:
    app = builder()
    app.stream("in").join(app.table("t"), any_function, name="look")

    topology = app.build()

    (source,) = operators(topology, TableSource)
    assert source == TableSource("t-STATE-STORE-0000000001")
    assert processor(topology, "look").stores == ("t-STATE-STORE-0000000001",)
    assert processor(topology, "look").operator == StreamTableJoin(
        "KTABLE-SOURCE-0000000003", "inner", operators(topology, StreamTableJoin)[0].joiner
    )


def test_computed_table_is_read_through_its_source_table() -> None:
    app = builder()
    table = app.table("t", store="kept").filter(any_function).map_values(any_function, name="view")
    app.stream("in").join(table, any_function, name="look")

    node = processor(app.build(), "look")

    assert node.stores == ("kept",)
    assert isinstance(node.operator, StreamTableJoin)
    assert node.operator.table == "view"


def test_table_with_a_store_is_read_from_it() -> None:
    app = builder()
    table = app.table("t", store="kept").filter(any_function, store="filtered")
    app.stream("in").join(table, any_function, name="look")

    assert processor(app.build(), "look").stores == ("filtered",)


def test_cogrouped_table_is_read_from_the_store_of_its_groups() -> None:
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


def test_joins_without_a_name_share_the_repartition_of_their_stream() -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    rekeyed.join(app.table("a"), any_function)
    rekeyed.join(app.table("b"), any_function)
    rekeyed.join(app.table("c"), any_function, name="third")

    assert repartitions(app.build()) == ["KSTREAM-KEY-SELECT-0000000001-repartition", "third-repartition"]


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

    with pytest.raises(bm.errors.TopologyError) as error:
        app.build()

    assert [fault.what.split(",")[0] for fault in error.value.faults] == [
        "Two repartitions are called 'look-repartition'",
        "Two nodes are called 'look'",
    ]

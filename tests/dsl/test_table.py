"""KTable: which tables keep a store, and which send old values."""

from __future__ import annotations

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.operators import (
    Operator,
    SelectKey,
    TableAggregate,
    TableGroup,
    TableMapValues,
    TableSource,
    TableToStream,
)
from tests.topology.programs import any_function, builder


def operators(app: bm.StreamsBuilder) -> list[Operator]:
    return [node.operator for node in app.build().nodes if isinstance(node, ProcessorNode)]


def sends_old(app: bm.StreamsBuilder) -> list[bool]:
    return [operator.send_old for operator in operators(app) if hasattr(operator, "send_old")]


def stores(app: bm.StreamsBuilder) -> list[str]:
    return [store.name for store in app.build().stores]


def test_table_without_a_named_store_has_none() -> None:
    app = builder()
    table = app.table("in")

    assert stores(app) == []
    assert table.queryable_store_name is None


def test_table_that_is_grouped_gets_its_store_and_sends_old_values() -> None:
    app = builder()
    table = app.table("in")
    table.group_by(any_function)

    assert stores(app) == ["in-STATE-STORE-0000000000"]
    assert sends_old(app) == [True]
    assert table.queryable_store_name is None


def test_old_values_are_requested_from_all_tables_upstream() -> None:
    app = builder()
    app.table("in").map_values(any_function).filter(any_function).group_by(any_function)

    assert sends_old(app) == [True, True, True]
    assert stores(app) == ["in-STATE-STORE-0000000000"]


def test_table_with_a_store_in_between_has_the_old_values() -> None:
    app = builder()
    app.table("in").map_values(any_function, store="kept").group_by(any_function)

    assert sends_old(app) == [False, True]
    assert stores(app) == ["kept"]


def test_filter_uses_old_values_that_are_already_sent() -> None:
    app = builder()
    app.table("in", store="kept").filter(any_function)

    assert sends_old(app) == [True, True]


def test_filter_does_not_make_a_table_keep_a_store() -> None:
    app = builder()
    app.table("in").filter(any_function)

    assert sends_old(app) == [False, False]
    assert stores(app) == []


def test_filter_of_an_aggregate_makes_it_send_old_values() -> None:
    app = builder()
    app.stream("in").group_by_key().count().filter_not(any_function)

    assert sends_old(app) == [True, True]


def test_every_part_of_a_cogroup_sends_old_values() -> None:
    app = builder()
    one, two = app.stream("a").group_by_key(), app.stream("b").group_by_key()
    one.cogroup(any_function).cogroup(two, any_function).aggregate("").group_by(any_function)

    assert sends_old(app) == [True, True]


def test_map_values_leaves_old_values_alone() -> None:
    app = builder()
    app.stream("in").group_by_key().count().map_values(any_function)

    assert sends_old(app) == [False, False]


def test_transform_values_sees_deletions() -> None:
    app = builder()
    app.table("in").transform_values(any_function, store="kept")

    assert any(isinstance(found, TableMapValues) and found.sees_null for found in operators(app))
    assert stores(app) == ["kept"]


def test_key_of_to_stream_is_a_separate_node() -> None:
    app = builder()
    app.table("in").to_stream(any_function, name="updates")

    assert [type(found) for found in operators(app)][1:] == [TableToStream, SelectKey]


def test_grouped_table_is_repartitioned_without_a_filter() -> None:
    app = builder()
    app.table("in").group_by(any_function, name="g").count(name="n", store="counts")

    topology = app.build()

    assert [r.topic for r in topology.repartitions] == ["g-repartition"]
    assert [node.name for node in topology.nodes] == [
        "KSTREAM-SOURCE-0000000001",
        "KTABLE-SOURCE-0000000002",
        "g",
        "n-sink",
        "n-source",
        "n",
    ]
    assert [type(found) for found in operators(app)] == [TableSource, TableGroup, TableAggregate]


def test_count_of_a_table_adds_and_subtracts_one() -> None:
    app = builder()
    app.table("in").group_by(any_function).count()

    (found,) = (found for found in operators(app) if isinstance(found, TableAggregate))

    assert not isinstance(found.adder, tuple)
    assert not isinstance(found.subtractor, tuple)
    assert (found.adder.call(1), found.subtractor.call(1)) == (2, 0)


def test_table_refuses_short_aggregates_that_cannot_be_undone() -> None:
    grouped = builder().table("in").group_by(any_function)

    with pytest.raises(bm.errors.TopologyError, match="cannot be 'max'"):
        grouped.agg(n=bm.count(), high=bm.max("x"))


def test_global_table_can_always_be_queried() -> None:
    app = builder()

    assert app.global_table("in").queryable_store_name == "in-STATE-STORE-0000000000"
    assert app.build().stores[0].is_global

"""Joins of two tables: which stores they read, and which side sends old values."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.topology.operators import TableJoin, TableJoinMerge, TableSource
from tests.dsl.nodes import operators, processor
from tests.topology.programs import any_function, builder


def test_table_join_reads_the_other_side() -> None:
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


def test_join_result_without_a_store_is_read_through_both_sides() -> None:
    app = builder()
    joined = app.table("l", store="left").join(app.table("r", store="right"), any_function)
    app.stream("in").join(joined, any_function, name="look")

    assert processor(app.build(), "look").stores == ("left", "right")


def test_join_result_with_a_store_is_read_from_it() -> None:
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
def test_sides_that_may_be_unmatched_send_old_values(how: Any, asked: list[bool]) -> None:
    app = builder()
    app.table("l").join(app.table("r"), any_function, how=how)

    topology = app.build()

    assert [source.send_old for source in operators(topology, TableSource)] == asked
    assert [side.send_old for side in operators(topology, TableJoin)] == [False, False]


def test_grouped_join_result_requests_old_values_of_both_tables() -> None:
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

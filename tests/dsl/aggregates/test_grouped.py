"""Aggregates of a grouped stream."""

from __future__ import annotations

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.operators import Aggregate, Literal, ShortAggregate
from tests.topology.programs import any_function, builder


def aggregates(app: bm.StreamsBuilder) -> list[Aggregate]:
    nodes = [node for node in app.build().nodes if isinstance(node, ProcessorNode)]
    return [node.operator for node in nodes if isinstance(node.operator, Aggregate)]


def test_count_is_an_aggregate_that_starts_at_zero_and_adds_one() -> None:
    app = builder()
    app.stream("in").group_by_key().count(store="n")

    (found,) = aggregates(app)

    assert found.store == "n"
    assert found.initial == Literal(0)
    assert not isinstance(found.step, tuple)
    assert found.step.call(41) == 42


def test_reduce_has_no_initial_value() -> None:
    app = builder()
    app.stream("in").group_by_key().reduce(any_function)

    (found,) = aggregates(app)

    assert found.initial is None
    assert found.store == "KSTREAM-REDUCE-STATE-STORE-0000000001"


def test_initial_value_may_be_a_plain_value_or_a_function() -> None:
    app = builder()
    grouped = app.stream("in").group_by_key()
    grouped.aggregate({"n": 0}, any_function)
    grouped.aggregate(initial=any_function, step=any_function)

    plain, made = aggregates(app)

    assert plain.initial == Literal({"n": 0})
    assert made.initial is not None
    assert not isinstance(made.initial, Literal)


def test_count_without_a_store_uses_one_more_number() -> None:
    app = builder()
    app.stream("in").group_by_key().count()

    assert app.build().stores[0].name == "KSTREAM-AGGREGATE-STATE-STORE-0000000002"


def test_short_form_holds_its_columns_in_order() -> None:
    app = builder()
    app.stream("in").group_by_key().agg(n=bm.count(), low=bm.min("ask"), best=bm.top_n("ask", 3))

    (found,) = aggregates(app)

    assert found.step == (
        ShortAggregate("n", "count", None),
        ShortAggregate("low", "min", "ask"),
        ShortAggregate("best", "top_n", "ask", 3),
    )


def test_short_form_refuses_all_wrong_columns_at_once() -> None:
    grouped = builder().stream("in").group_by_key()

    with pytest.raises(bm.errors.TopologyError) as caught:
        grouped.agg(a="sum", b=3)  # type: ignore[arg-type]

    assert len(caught.value.faults) == 2


def test_short_form_needs_a_column() -> None:
    with pytest.raises(bm.errors.TopologyError, match="at least one column"):
        builder().stream("in").group_by_key().agg(store="kept")


def test_group_of_an_unchanged_key_is_not_repartitioned() -> None:
    app = builder()
    app.stream("in").map_values(any_function).group_by_key().count()

    assert app.build().repartitions == ()


def test_unnamed_group_is_repartitioned_for_each_result() -> None:
    app = builder()
    grouped = app.stream("in").group_by(any_function)
    grouped.count(store="one")
    grouped.reduce(any_function, store="two")

    assert [r.topic for r in app.build().repartitions] == ["one-repartition", "two-repartition"]


def test_named_group_is_repartitioned_once() -> None:
    app = builder()
    grouped = app.stream("in").group_by(any_function, name="g")
    grouped.count(store="one")
    grouped.reduce(any_function, store="two")

    assert [r.topic for r in app.build().repartitions] == ["g-repartition"]


def test_cogroup_shares_one_store() -> None:
    app = builder()
    one, two = app.stream("a").group_by_key(), app.stream("b").group_by_key()
    table = one.cogroup(any_function).cogroup(two, any_function).aggregate("", store="both", name="c")

    topology = app.build()

    assert [store.name for store in topology.stores] == ["both"]
    assert table.queryable_store_name == "both"
    names = [node.name for node in topology.nodes if isinstance(node, ProcessorNode)]
    assert names == ["c-cogroup-agg-0", "c-cogroup-agg-1", "c-cogroup-merge"]


def test_last_step_given_for_a_group_wins_in_cogroup() -> None:
    app = builder()
    group = app.stream("a").group_by_key()
    group.cogroup(any_function).cogroup(group, lambda value, agg: agg).aggregate("")

    (found,) = aggregates(app)

    assert not isinstance(found.step, tuple)
    assert found.step.call("value", "agg") == "agg"

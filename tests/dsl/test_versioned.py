"""Tables with history: their stores, which operators inherit history, and which end it."""

from __future__ import annotations

from datetime import timedelta

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode, Store
from brookmere.topology.operators import (
    ForeignUpdate,
    StreamTableJoin,
    SubscriptionSend,
    TableFilter,
    TableGroup,
    TableJoin,
    TableSource,
)
from tests.topology.programs import any_function, builder


def versioned(app: bm.StreamsBuilder, kind: type) -> list[bool]:
    """Which operators of a kind take their updates as those of a versioned table."""
    nodes = [node for node in app.build().nodes if isinstance(node, ProcessorNode)]
    return [node.operator.versioned for node in nodes if isinstance(node.operator, kind)]  # type: ignore[union-attr]


def test_history_creates_a_versioned_store() -> None:
    app = builder()
    app.table("in", store="kept", history=timedelta(seconds=2))

    topology = app.build()

    assert topology.stores == (Store("kept", queryable=True, kind="versioned", retention_ms=2000),)


def test_table_with_history_has_a_store_even_without_a_name() -> None:
    app = builder()
    app.table("a", history="5ms")
    app.stream("b").to_table(history="7ms")

    stores = app.build().stores

    assert [(store.kind, store.retention_ms, store.queryable) for store in stores] == [
        ("versioned", 5, False),
        ("versioned", 7, False),
    ]
    assert versioned(app, TableSource) == [True, True]


def test_stateless_operators_inherit_history() -> None:
    app = builder()
    table = app.table("in", history="5ms").filter(any_function).map_values(any_function)

    assert table._versioned
    table.filter(any_function).group_by(any_function)
    assert versioned(app, TableFilter) == [True, True]
    assert versioned(app, TableGroup) == [True]


@pytest.mark.parametrize(
    "end",
    [
        lambda table: table.filter(any_function, store="kept"),
        lambda table: table.map_values(any_function, store="kept"),
        lambda table: table.to_stream().to_table(),
        lambda table: table.group_by(any_function).count(),
        lambda table: table.join(table, any_function),
        lambda table: table.join(table, any_function, foreign_key=any_function),
    ],
)
def test_stores_aggregates_and_joins_end_history(end: object) -> None:
    app = builder()

    assert not end(app.table("in", history="5ms"))._versioned  # type: ignore[operator]


def test_each_side_of_a_join_has_its_own_meaning() -> None:
    app = builder()
    app.table("l", history="5ms").join(app.table("r"), any_function)
    app.table("a").join(app.table("b", history="5ms").filter(any_function), any_function)

    assert versioned(app, TableJoin) == [True, False, False, True]


def test_foreign_key_join_knows_the_history_of_both_tables() -> None:
    app = builder()
    app.table("l", history="5ms").join(app.table("r"), any_function, foreign_key=any_function)
    app.table("a").join(app.table("b", history="5ms"), any_function, foreign_key=any_function)

    assert versioned(app, SubscriptionSend) == [True, False]
    assert versioned(app, ForeignUpdate) == [False, True]


def test_grace_buffers_records_in_a_store_named_after_the_join() -> None:
    app = builder()
    table = app.table("t", history=timedelta(seconds=5), store="kept").filter(any_function)
    app.stream("in").left_join(table, any_function, grace=timedelta(seconds=5), name="look")

    topology = app.build()

    (node,) = (n for n in topology.nodes if n.name == "look")
    assert isinstance(node, ProcessorNode)
    assert isinstance(node.operator, StreamTableJoin)
    assert (node.operator.grace_ms, node.operator.buffer) == (5000, "look-Buffer")
    assert node.stores == ("look-Buffer", "kept")
    assert [store.name for store in topology.stores if store.kind == "join_buffer"] == ["look-Buffer"]


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (None, "A join with a grace period needs a table with history; KTABLE-SOURCE-0000000002"),
        ("10ms", "The grace period of 11 ms is longer than the history of KTABLE-SOURCE-0000000002, 10 ms"),
    ],
)
def test_grace_is_refused_without_enough_history(history: str | None, message: str) -> None:
    app = builder()
    app.stream("in").join(app.table("t", store="kept", history=history), any_function, grace="11ms")

    with pytest.raises(bm.errors.TopologyError) as error:
        app.build()

    (fault,) = error.value.faults
    assert fault.what.startswith(message)


def test_history_is_a_length_of_time() -> None:
    app = builder()

    with pytest.raises(bm.errors.TopologyError, match="history of a table must not be negative"):
        app.table("t", history="-1ms")

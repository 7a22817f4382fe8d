"""Extensions of Kafka Streams add only the nodes and stores that they need."""

from __future__ import annotations

from datetime import timedelta

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode, SinkNode
from brookmere.topology.operators import Aggregate, Dedupe, TableAggregate, TableSource, Top

TEN = timedelta(seconds=10)


def _app() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("beyond", key=bm.Text(), value=bm.Json("id bigint"))


def _operators(app: bm.StreamsBuilder) -> list[object]:
    return [node.operator for node in app.build().nodes if isinstance(node, ProcessorNode)]


def test_dedupe_store_has_a_retention() -> None:
    app = _app()
    app.stream("in").dedupe(TEN, by="id").to("out")

    topology = app.build()

    (operator,) = _operators(app)
    assert isinstance(operator, Dedupe)
    assert operator.within_ms == 10_000
    (store,) = topology.stores
    assert (store.kind, store.retention_ms, store.queryable) == ("seen", 20_000, False)
    assert "within 10 s" in bm.explain(app)


def test_dedupe_of_a_stream_with_new_keys_repartitions() -> None:
    app = _app()
    app.stream("in").select_key(lambda value: value.id).dedupe(TEN, name="once").to("out")

    assert [repartition.topic for repartition in app.build().repartitions] == ["once-repartition"]


def test_top_n_is_an_aggregate() -> None:
    app = _app()
    app.stream("in").group_by_key().top_n(3, by="id", store="best")
    table = app.table("table", store="rows").group_by(lambda key, value: (key, value))
    table.top_n(2, by=lambda value: value.id, lowest=True)

    folds = [one for one in _operators(app) if isinstance(one, Aggregate | TableAggregate)]

    steps = [one.step if isinstance(one, Aggregate) else one.adder for one in folds]
    assert [(step.limit, step.lowest) for step in steps if isinstance(step, Top)] == [(3, False), (2, True)]


def test_table_with_a_time_to_live_has_a_store() -> None:
    app = _app()
    app.table("in", ttl=TEN).to_stream().to("out")

    topology = app.build()

    operator = _operators(app)[0]
    assert isinstance(operator, TableSource)
    assert operator.ttl_ms == 10_000
    assert operator.store == topology.stores[0].name
    assert "rows live 10 s" in bm.explain(app)


def test_dropped_records_have_their_own_sink() -> None:
    app = _app()
    app.stream("in").dedupe(TEN, late_to="late", name="once").to("out")

    sinks = [node for node in app.build().nodes if isinstance(node, SinkNode)]

    assert {(sink.name, sink.late) for sink in sinks} == {
        ("KSTREAM-SINK-0000000003", False),
        ("once-late", True),
    }


def test_time_to_live_of_zero_is_refused() -> None:
    with pytest.raises(bm.errors.TopologyError, match="ttl of a table must not be zero"):
        _app().table("in", ttl=timedelta(0))


def test_late_to_must_name_a_topic() -> None:
    app = _app()
    app.stream("in").dedupe(TEN, late_to="a b").to("out")

    with pytest.raises(bm.errors.TopologyError, match="topic"):
        app.build()

"""KStream: each call adds one node, with Kafka Streams' name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode, SinkNode, SourceNode
from brookmere.topology.operators import (
    Filter,
    FlatMap,
    FlatMapValues,
    KeyNotNull,
    Map,
    MapValues,
    PassThrough,
    SelectKey,
    TableSource,
    Tap,
)
from tests.topology.programs import any_function, builder


def processors(app: bm.StreamsBuilder) -> dict[str, ProcessorNode]:
    return {node.name: node for node in app.build().nodes if isinstance(node, ProcessorNode)}


def sinks(app: bm.StreamsBuilder) -> list[SinkNode]:
    return [node for node in app.build().nodes if isinstance(node, SinkNode)]


@pytest.mark.parametrize(
    ("call", "name", "operator"),
    [
        (lambda stream: stream.filter(any_function), "KSTREAM-FILTER-0000000001", Filter),
        (lambda stream: stream.filter_not(any_function), "KSTREAM-FILTER-0000000001", Filter),
        (lambda stream: stream.map(any_function), "KSTREAM-MAP-0000000001", Map),
        (lambda stream: stream.map_values(any_function), "KSTREAM-MAPVALUES-0000000001", MapValues),
        (lambda stream: stream.flat_map(any_function), "KSTREAM-FLATMAP-0000000001", FlatMap),
        (
            lambda stream: stream.flat_map_values(any_function),
            "KSTREAM-FLATMAPVALUES-0000000001",
            FlatMapValues,
        ),
        (lambda stream: stream.select_key(any_function), "KSTREAM-KEY-SELECT-0000000001", SelectKey),
        (lambda stream: stream.peek(any_function), "KSTREAM-PEEK-0000000001", Tap),
        (lambda stream: stream.foreach(any_function), "KSTREAM-FOREACH-0000000001", Tap),
        (lambda stream: stream.print(), "KSTREAM-PRINTER-0000000001", Tap),
        (lambda stream: stream.merge(stream), "KSTREAM-MERGE-0000000001", PassThrough),
        (lambda stream: stream.to_table(), "KSTREAM-TOTABLE-0000000001", TableSource),
    ],
)
def test_operator_adds_one_processor(call: Callable[[bm.KStream], object], name: str, operator: type) -> None:
    app = builder()

    call(app.stream("in"))

    ((found, node),) = processors(app).items()
    assert found == name
    assert isinstance(node.operator, operator)
    assert node.parents == ("KSTREAM-SOURCE-0000000000",)


def test_given_name_replaces_the_generated_one_and_shifts_nothing() -> None:
    app = builder()

    app.stream("in").filter(any_function, name="mine").filter(any_function)

    assert list(processors(app)) == ["mine", "KSTREAM-FILTER-0000000002"]


def test_filter_not_is_a_negated_filter() -> None:
    app = builder()

    app.stream("in").filter_not(any_function)

    (node,) = processors(app).values()
    assert isinstance(node.operator, Filter)
    assert node.operator.negate


def test_foreach_ends_a_stream_and_peek_does_not() -> None:
    app = builder()

    app.stream("in").peek(any_function).foreach(any_function)

    ends = [node.operator.terminal for node in processors(app).values() if isinstance(node.operator, Tap)]
    assert ends == [False, True]


def test_print_writes_label_key_and_value(capsys: pytest.CaptureFixture[str]) -> None:
    app = builder()
    app.stream("in").print("seen")
    (node,) = processors(app).values()
    assert isinstance(node.operator, Tap)

    node.operator.action("k", "v")

    assert capsys.readouterr().out == "[seen]: k, v\n"


def test_merge_of_several_streams_is_one_node() -> None:
    app = builder()

    app.stream("a").merge(app.stream("b"), app.stream("c"), name="all")

    assert processors(app)["all"].parents == tuple(f"KSTREAM-SOURCE-000000000{n}" for n in range(3))


def test_merge_keeps_the_serdes_that_all_streams_share() -> None:
    app = builder()

    app.stream("a").merge(app.stream("b", value=bm.Long())).to("out")

    (sink,) = sinks(app)
    assert (sink.key, sink.value) == (bm.Text(), None)


def test_sink_inherits_serdes_until_key_or_value_changes() -> None:
    app = builder()
    source = app.stream("in")

    source.to("same")
    source.map_values(any_function).to("values")
    source.select_key(any_function).to("keys")
    source.map(any_function).to("both", key=bm.Int(), value=bm.Long())

    found = {sink.topic: (sink.key, sink.value) for sink in sinks(app)}
    assert found == {
        "same": (bm.Text(), bm.Text()),
        "values": (bm.Text(), None),
        "keys": (None, bm.Text()),
        "both": (bm.Int(), bm.Long()),
    }


def test_repartition_is_named_and_numbered() -> None:
    app = builder()

    app.stream("in").repartition("mine", partitions=3).to("out")

    topology = app.build()
    assert [(r.topic, r.partitions) for r in topology.repartitions] == [("mine-repartition", 3)]
    assert isinstance(processors(app)["mine-repartition-filter"].operator, KeyNotNull)


def test_repartition_has_its_key_serde_on_both_sides() -> None:
    app = builder()

    app.stream("in").select_key(any_function).repartition("mine", key=bm.Long()).to("out")

    internal = [
        node for node in app.build().nodes if isinstance(node, SourceNode | SinkNode) and node.internal
    ]
    assert [node.key for node in internal] == [bm.Long(), bm.Long()]


def test_table_of_a_rekeyed_stream_is_repartitioned() -> None:
    app = builder()

    app.stream("in").select_key(any_function).to_table(name="latest")

    assert processors(app)["latest"].parents == ("latest-repartition-source",)


def test_table_of_a_stream_has_no_store_unless_needed() -> None:
    app = builder()
    stream = app.stream("in")

    plain = stream.to_table()
    kept = stream.to_table(store="latest")

    assert (plain.queryable_store_name, kept.queryable_store_name) == (None, "latest")
    assert [store.name for store in app.build().stores] == ["latest"]


@pytest.mark.parametrize(
    "call",
    [
        lambda stream: stream.filter("value > 1"),
        lambda stream: stream.peek(None),
        lambda stream: stream.to(3),
        lambda stream: stream.to("out", key=str),
        lambda stream: stream.merge(),
        lambda stream: stream.merge("other"),
        lambda stream: stream.repartition(partitions=0),
        lambda stream: stream.repartition(partitions=True),
        lambda stream: stream.filter(any_function, name=3),
    ],
)
def test_wrong_type_of_argument_is_refused_at_the_call(call: Callable[[Any], object]) -> None:
    stream = builder().stream("in")

    with pytest.raises(bm.errors.TopologyError) as caught:
        call(stream)

    (fault,) = caught.value.faults
    assert "test_stream.py" in (fault.where or "")

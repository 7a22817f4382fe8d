"""Programs that are written node by node: as Kafka Streams has them, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode, SourceNode
from brookmere.topology.operators import Process

COUNTS = bm.key_value_store("counts", key=str, value=int)


class Quiet(bm.Processor):
    def process(self, record: bm.Record) -> None:
        self.context.forward(record)


class QuietValues(bm.FixedKeyProcessor):
    def process(self, record: bm.Record) -> None:
        self.context.forward(record)


@pytest.fixture
def topology() -> bm.TopologyBuilder:
    return bm.TopologyBuilder("app", key=bm.Text(), value=bm.Text())


def faults_of(topology: bm.TopologyBuilder) -> list[str]:
    with pytest.raises(bm.errors.TopologyError) as refused:
        topology.build()
    return [fault.what for fault in refused.value.faults]


def test_description_is_that_of_kafka_streams(topology: bm.TopologyBuilder) -> None:
    topology.add_source("orders", "orders").add_source("prices", "prices")
    topology.add_processor("check", Quiet, "orders").add_processor("both", QuietValues, "check", "prices")
    topology.add_state_store(COUNTS, "check").add_sink("out", "checked", "both", "check")

    assert (
        topology.describe()
        == """Topologies:
   Sub-topology: 0
    Source: orders (topics: [orders])
      --> check
    Processor: check (stores: [counts])
      --> both, out
      <-- orders
    Source: prices (topics: [prices])
      --> both
    Processor: both (stores: [])
      --> out
      <-- check, prices
    Sink: out (topic: checked)
      <-- check, both

"""
    )


def test_nodes_without_a_link_are_topologies_of_their_own(topology: bm.TopologyBuilder) -> None:
    topology.add_source("a", "a").add_processor("p", Quiet, "a")
    topology.add_source("b", "b").add_processor("q", Quiet, "b")

    assert [part.nodes for part in topology.build().subtopologies] == [("a", "p"), ("b", "q")]


def test_common_store_makes_one_topology_of_two(topology: bm.TopologyBuilder) -> None:
    topology.add_source("a", "a").add_processor("p", Quiet, "a", stores=COUNTS)
    topology.add_source("b", "b").add_processor("q", Quiet, "b")
    topology.connect_processor_and_state_stores("q", "counts")

    built = topology.build()

    assert [part.nodes for part in built.subtopologies] == [("a", "p", "b", "q")]
    assert [store.name for store in built.stores] == ["counts"]


def test_class_says_whether_keys_stay(topology: bm.TopologyBuilder) -> None:
    topology.add_source("a", "a").add_processor("p", Quiet, "a").add_processor("q", QuietValues, "p")
    topology.add_processor("r", lambda: QuietValues(), "q")

    nodes = [node for node in topology.build().nodes if isinstance(node, ProcessorNode)]

    assert [isinstance(n.operator, Process) and n.operator.fixed_key for n in nodes] == [False, True, True]


def test_source_reads_a_pattern_with_serdes_of_its_own(topology: bm.TopologyBuilder) -> None:
    topology.add_source("a", re.compile("a-.*"), value=bm.Long()).add_sink("out", "out", "a")

    (source,) = [node for node in topology.build().nodes if isinstance(node, SourceNode)]

    assert (source.pattern, source.key, source.value) == ("a-.*", bm.Text(), bm.Long())


def test_program_can_grow_after_it_was_built(topology: bm.TopologyBuilder) -> None:
    topology.add_source("a", "a").build()

    topology.add_sink("out", "out", "a")

    assert len(topology.build().nodes) == 2


def test_all_faults_are_told_together(topology: bm.TopologyBuilder) -> None:
    topology.add_source("in", "in").add_source("again", "in")
    topology.add_processor("p", Quiet, "inn").add_processor("q", Quiet, "q").add_processor("r", Quiet)
    topology.add_sink("out", "out", "in").add_sink("more", "more", "out").add_sink("none", "none")
    topology.add_processor("in", Quiet, "out")
    topology.add_state_store(COUNTS, "p", "pp", "in")
    topology.connect_processor_and_state_stores("p", "other").connect_processor_and_state_stores("p")
    topology.add_state_store(bm.key_value_store("lonely", key=str, value=str))

    assert [re.sub(r"at \S+:\d+", "at HERE", fault) for fault in faults_of(topology)] == [
        "The parent 'inn' of 'p' is unknown",
        "Node 'q' is its own parent",
        "Node 'r' has no parent",
        "The parent 'out' of 'more' is a sink",
        "Node 'none' has no parent",
        "The parent 'out' of 'in' is a sink",
        "There is no processor 'pp' to connect",
        "Processor 'p' is connected to no store",
        "Two nodes are called 'in', the first at HERE",
        "Topic 'in' has already been registered by another source, in",
        "The store 'other' does not exist",
        "No processor uses the store 'lonely'",
    ]


def test_store_belongs_to_processors_only(topology: bm.TopologyBuilder) -> None:
    topology.add_source("in", "in").add_sink("out", "out", "in").add_state_store(COUNTS, "in")

    assert "Node 'in' is not a processor" in faults_of(topology)


def test_program_is_explained_like_any_other(topology: bm.TopologyBuilder) -> None:
    topology.add_source("in", "in").add_processor("p", Quiet, "in", stores=COUNTS).add_sink("out", "out", "p")

    assert "Application app" in bm.explain(topology, partitions=2)


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (
            lambda t: t.add_processor("p", Quiet, ["a"]),
            r"The parents of 'p' must be given by .* found \['a'\]",
        ),
        (lambda t: t.add_sink("out", "out", None), "The parents of 'out' must be given by .* found None"),
        (
            lambda t: t.add_state_store(COUNTS, ["p"]),
            "The processors of the store 'counts' must be given by name",
        ),
        (lambda t: t.connect_processor_and_state_stores("p", COUNTS), "and its stores must be given by name"),
    ],
)
def test_what_is_no_name_is_refused_at_the_users_line(
    topology: bm.TopologyBuilder, add: Any, message: str
) -> None:
    topology.add_source("a", "a")

    with pytest.raises(bm.errors.TopologyError, match=message + r".*test_topology_builder"):
        add(topology)

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from brookmere.plan.changelogs import changelogs
from brookmere.plan.stages import plan
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.operators import Process
from tests.conformance.build import build

SCENARIOS = Path(__file__).parents[2] / "conformance" / "scenarios"
FILES = sorted([*SCENARIOS.glob("processors/*-1.json"), *SCENARIOS.glob("headers/p*-1.json")])
COUNTS = bm.key_value_store("counts", key=bm.Text(), value=int)


class Quiet(bm.Processor):
    def process(self, record: bm.Record) -> None:
        self.context.forward(record)


class Counting(Quiet):
    stores = (COUNTS,)


class QuietValues(bm.FixedKeyProcessor):
    def process(self, record: bm.Record) -> None:
        self.context.forward(record)


@pytest.fixture
def app() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())


def faults_of(app: bm.StreamsBuilder) -> list[str]:
    with pytest.raises(bm.errors.TopologyError) as refused:
        app.build()
    return [fault.what for fault in refused.value.faults]


def processor(app: bm.StreamsBuilder, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    node = app.build().node(name)
    assert isinstance(node, ProcessorNode)
    assert isinstance(node.operator, Process)
    return node.stores, node.operator.reads


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_description_is_the_recorded_one(file: Path) -> None:
    recorded = json.loads(file.read_text())

    topology = build(recorded["topology"], optimize=recorded.get("optimize", False))

    assert topology.describe() == recorded["describe"]


def test_named_processor_uses_no_number(app: bm.StreamsBuilder) -> None:
    app.stream("in").process(Quiet, name="mine").process_values(QuietValues, name="values").to("out")

    names = [node.name for node in app.build().nodes]

    assert names == ["KSTREAM-SOURCE-0000000000", "mine", "values", "KSTREAM-SINK-0000000001"]


def test_only_process_may_change_keys(app: bm.StreamsBuilder) -> None:
    app.stream("in").process(Quiet).group_by_key().count(store="a")
    app.stream("in2").process_values(QuietValues).group_by_key().count(store="b")

    assert [each.topic for each in app.build().repartitions] == ["a-repartition"]


@pytest.mark.parametrize("optimization", ["none", "all"])
def test_optimization_keeps_the_repartitions_after_a_processor(
    app: bm.StreamsBuilder, optimization: str
) -> None:
    keyed = app.stream("in").select_key(lambda value: value)
    processed = keyed.process(Quiet).filter(lambda value: True, name="passed")
    processed.group_by_key().count(store="a")
    processed.group_by_key().reduce(lambda a, b: a, store="b")

    topology = app.build(optimization=optimization)

    filters = [topology.node(f"{repartition.topic}-filter") for repartition in topology.repartitions]
    assert [filter.parents for filter in filters if isinstance(filter, ProcessorNode)] == [("passed",)] * 2


def test_optimization_moves_no_repartition_past_a_processor_on_another_path(app: bm.StreamsBuilder) -> None:
    keyed = app.stream("in").select_key(lambda value: value)
    merged = keyed.filter(lambda value: True).merge(keyed.process(Quiet), name="merged")
    merged.group_by_key().count(store="a")

    topology = app.build(optimization="all")

    (repartition,) = topology.repartitions
    filter = topology.node(f"{repartition.topic}-filter")
    assert isinstance(filter, ProcessorNode)
    assert filter.parents == ("merged",)


def test_serdes_stay_the_same_unless_a_type_is_given(app: bm.StreamsBuilder) -> None:
    stream = app.stream("in")

    same, other = stream.process(Quiet), stream.process(Quiet, key="bigint", value=bm.Long())
    values = stream.process_values(QuietValues, value="a int")

    assert (same._key, same._value) == (bm.Text(), bm.Text())
    assert (other._key, other._value) == (None, bm.Long())
    assert (values._key, values._value) == (bm.Text(), None)


def test_stores_can_be_named_declared_or_passed_inline(app: bm.StreamsBuilder) -> None:
    app.add_state_store(bm.versioned_store("prices", key=str, value=float, history=timedelta(days=1)))
    seen = bm.window_store("seen", key=str, value=int, window="1000ms", retention=timedelta(hours=1))

    app.stream("in").process(Counting, stores=["prices", seen], name="p")

    topology = app.build()
    assert processor(app, "p") == (("counts", "prices", "seen"), ())
    assert [(s.name, s.kind, s.retention_ms, s.window_ms) for s in topology.stores] == [
        ("counts", "key_value", None, None),
        ("prices", "versioned", 86_400_000, None),
        ("seen", "window", 3_600_000, 1000),
    ]


def test_supplier_function_provides_the_stores_of_its_processor(app: bm.StreamsBuilder) -> None:
    app.stream("in").process(lambda: Counting(), name="made")

    assert processor(app, "made") == (("counts",), ())


def test_processors_with_equal_store_builders_share_the_store(app: bm.StreamsBuilder) -> None:
    app.stream("a").process(Counting)
    app.stream("b").process(Quiet, stores="counts")
    app.stream("c").process(Quiet, stores=[bm.key_value_store("counts", key=bm.Text(), value=int)])

    topology = app.build()

    assert len(topology.stores) == 1
    assert len(topology.subtopologies) == 1


def test_processor_reads_the_store_of_a_table_without_owning_it(app: bm.StreamsBuilder) -> None:
    app.table("prices", store="prices")
    app.global_table("rates", store="rates")

    app.stream("in").process(Quiet, stores=["prices", "rates"], name="p")

    topology = app.build()
    assert processor(app, "p") == (("prices",), ("prices", "rates"))
    assert [len(part.nodes) for part in topology.subtopologies] == [4, 2]


def test_processor_store_has_a_changelog_unless_disabled(app: bm.StreamsBuilder) -> None:
    silent = bm.key_value_store("silent", key=str, value=bm.Pickled(), changelog=False)
    app.stream("in").process(Counting, stores=[silent])

    (log,) = changelogs(plan(app.build(), {"in": 3}))

    assert (log.topic, log.partitions, log.store.queryable) == ("app-counts-changelog", 3, True)


def test_all_faults_of_stores_are_reported_together(app: bm.StreamsBuilder) -> None:
    app.add_state_store(bm.key_value_store("unused", key=str, value=str))
    app.stream("in").process(Counting, stores=["count"])
    app.stream("in").process(Quiet, stores=[bm.key_value_store("counts", key=str, value=str)])
    app.stream("in").process(Quiet, value={"a": 1})

    made = COUNTS.location
    assert faults_of(app) == [
        f"Two different stores are named 'counts', the other one at {made}",
        "The value that process() forwards has no valid type: found {'a': 1}",
        "The store 'count' does not exist",
        "No processor uses the store 'unused'",
    ]


def test_processor_cannot_use_the_store_of_an_operator(app: bm.StreamsBuilder) -> None:
    windows = bm.JoinWindows(timedelta(seconds=1))
    app.stream("a").join(app.stream("b"), lambda a, b: a, windows=windows, store="joined")
    name = app.build().stores[0].name
    app.stream("in").process(Quiet, stores=name)

    assert faults_of(app) == [f"The store {name!r} belongs to an operator"]


class Needing(Quiet):
    def __init__(self, limit: int) -> None:
        self.limit = limit


class Foreign:
    def process(self, record: bm.Record) -> None:
        """Take a record, as a processor does."""


class Waiting(bm.Processor):
    async def process(self, record: bm.Record) -> None:  # type: ignore[override]
        self.context.forward(record)


class Yielding(bm.Processor):
    def process(self, record: bm.Record) -> Any:
        yield record


QUIET = Quiet()


@pytest.mark.parametrize(
    ("supplier", "message"),
    [
        (QUIET, "needs a processor class"),
        (bm.python(len), "needs a processor class"),
        (dict, "has no method process"),
        (bm.Processor, "has no method process"),
        (Needing, "Pass lambda: Needing"),
        (lambda record: record, "takes parameters"),
        (lambda: None, "NoneType has no method process"),
        (lambda: 1 // 0, "failed: ZeroDivisionError"),
        (lambda: QUIET, "the same Quiet twice.*Create a new one on each call"),
        (Foreign, "Foreign is not a subclass"),
        (lambda: Foreign(), "Foreign is not a subclass"),
        (Waiting, "Waiting.process is asynchronous or a generator"),
        (Yielding, "Yielding.process is asynchronous or a generator"),
    ],
)
def test_supplier_that_creates_no_processor_is_refused(
    app: bm.StreamsBuilder, supplier: Any, message: str
) -> None:
    with pytest.raises(bm.errors.TopologyError, match=message):
        app.stream("in").process(supplier)


@pytest.mark.parametrize(
    "make",
    [
        lambda: bm.key_value_store("a", key=str, value=object),
        lambda: bm.window_store("a", key=str, value=str, window="10ms", retention="9ms"),
        lambda: bm.session_store("a", key=str, value=str, retention="0s"),
        lambda: bm.StreamsBuilder("app").add_state_store("a"),  # type: ignore[arg-type]
    ],
)
def test_wrong_stores_are_refused_at_the_users_line(make: Any) -> None:
    with pytest.raises(bm.errors.TopologyError, match="test_process"):
        make()


def test_same_program_with_processors_is_the_same_topology() -> None:
    def once() -> bm.Topology:
        app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
        app.stream("in").process(Counting).process(lambda: Needing(3)).to("out")
        return app.build()

    assert once() == once()

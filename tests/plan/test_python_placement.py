"""Where Python code stands: in stages of its own, and behind an exchange only where one is needed."""

from __future__ import annotations

from datetime import timedelta

import pytest

import brookmere as bm
from brookmere.errors import TopologyError
from brookmere.plan import Plan, plan
from brookmere.plan.early_folds import combinable
from tests.plan.programs import PLANNED
from tests.topology.programs import any_function, builder


class Sharing(bm.Processor):
    """Stands for a user's processor where it is never called."""

    def process(self, record: bm.Record) -> None:
        raise NotImplementedError


def same(value: str) -> str:
    return value


def in_batches(batch: object) -> object:
    return batch


async def answer(value: str) -> str:
    return value


def is_good(value: str) -> bool:
    return bool(value)


def total(value: str, aggregate: str) -> str:
    return aggregate + value


def _plan(app: bm.StreamsBuilder, **partitions: int) -> Plan:
    return plan(app.build(), partitions)


def _kinds(planned: Plan) -> str:
    """Each stage as a letter, Python in capitals, with a bar where records travel to their tasks."""
    return "".join(("|" if s.exchange else "") + ("P" if s.is_python else "k") for s in planned.stages)


def _faults(app: bm.StreamsBuilder, **partitions: int) -> str:
    with pytest.raises(TopologyError) as caught:
        _plan(app, **partitions)
    return str(caught.value)


def test_python_step_between_others_has_a_stage_of_its_own_without_exchanges() -> None:
    app = builder()
    app.stream("in").filter(any_function).map_values(bm.python(same)).map_values(any_function).to("out")

    planned = _plan(app, **{"in": 2})

    assert _kinds(planned) == "kPk"
    assert planned.chains == ((0, 1, 2),)


def test_python_steps_in_a_row_share_a_stage() -> None:
    app = builder()
    app.stream("in").map_values(bm.python(same)).filter(bm.python(is_good)).to("out")

    assert _kinds(_plan(app, **{"in": 1})) == "kPk"


@pytest.mark.parametrize(
    "many",
    [
        bm.python(in_batches, returns=str, batch="arrow"),
        bm.python_async(answer, timeout=timedelta(seconds=1)),
    ],
)
def test_step_that_takes_many_records_shares_no_stage_with_its_neighbours(many: object) -> None:
    app = builder()
    stream = app.stream("in").map_values(bm.python(same)).map_values(many, name="many")
    stream.map_values(bm.python(same)).to("out")

    planned = _plan(app, **{"in": 1})

    assert _kinds(planned) == "kPPPk"
    assert [node.name for node in planned.stages[2].nodes] == ["many"]


def test_branches_and_merges_between_python_steps_stand_with_them() -> None:
    app = builder()
    split = app.stream("in").split(name="split-")
    branches = split.branch(bm.python(is_good), name="good").default_branch(name="bad")
    good = branches["split-good"].map_values(bm.python(same))
    bad = branches["split-bad"]
    good.merge(bad).map_values(bm.python(same)).to("out")
    bad.to("bad")

    planned = _plan(app, **{"in": 1})

    assert _kinds(planned) == "kPk"
    assert [node.name for node in planned.stages[2].nodes if "SINK" not in node.name] == []


def test_branch_that_leads_to_nothing_in_python_stays_outside() -> None:
    app = builder()
    split = app.stream("in").split(name="split-").branch(bm.python(is_good), name="good")
    split.no_default_branch()["split-good"].to("out")

    planned = _plan(app, **{"in": 1})

    assert planned.stages[2].nodes[0].name == "split-good"


def test_state_behind_a_python_step_begins_the_first_operator() -> None:
    app = builder()
    app.stream("in").map_values(bm.python(same)).group_by_key().count(store="counts")

    planned = _plan(app, **{"in": 1})

    assert _kinds(planned) == "kP|k"
    assert planned.operator_of(2) == 0


def test_python_behind_state_runs_in_the_operator_of_the_state() -> None:
    app = builder()
    counts = app.stream("in").group_by_key().count(store="counts")
    named = counts.to_stream().map_values(bm.python(str, returns=str)).group_by_key()
    named.count(store="again").to_stream().group_by(any_function).count(store="third")

    planned = _plan(app, **{"in": 1})

    assert _kinds(planned) == "k|kPk|k"
    assert planned.chains == ((0,), (1, 2, 3), (4,))
    assert [planned.operator_of(stage) for stage in (1, 2, 3, 4)] == [1, 1, 1, 0]


def test_processor_stands_behind_an_exchange_though_it_keeps_nothing() -> None:
    app = builder()
    app.stream("in").process(Sharing).to("out")

    assert _kinds(_plan(app, **{"in": 1})) == "k|Pk"


def test_python_aggregate_keeps_its_store_in_a_python_stage() -> None:
    app = builder()
    app.stream("in").group_by_key().aggregate("", bm.python(total, returns=str), store="totals")

    planned = _plan(app, **{"in": 1})

    assert _kinds(planned) == "k|P"
    assert planned.stages[1].stores == ("totals",)
    assert combinable(planned) == {}


def test_table_joined_behind_a_python_step_of_itself_stays_in_front_of_it() -> None:
    app = builder()
    table = app.table("rows", store="rows-store")
    mapped = table.map_values(bm.python(same))
    app.stream("events").join(mapped, any_function).to("out")

    planned = _plan(app, rows=1, events=1)

    assert _kinds(planned) == "k|kPk"
    assert planned.stages[1].stores == ("rows-store",)


def test_table_moves_to_a_join_behind_python_steps_of_the_stream() -> None:
    app = builder()
    table = app.table("rows", store="rows-store")
    app.stream("events").map_values(bm.python(same)).join(table, any_function).to("out")

    planned = _plan(app, rows=1, events=1)

    assert _kinds(planned) == "kP|k"
    assert planned.stages[2].stores == ("rows-store",)


def test_processors_that_share_a_store_share_a_stage() -> None:
    app = builder()
    app.add_state_store(bm.key_value_store("shared", key=str, value=str))
    one, two = app.stream("one"), app.stream("two").map_values(any_function)
    one.map_values(bm.python(same)).process(Sharing, stores=["shared"])
    two.process(Sharing, stores=["shared"], name="second").to("out")

    planned = _plan(app, one=1, two=1)

    assert _kinds(planned) == "k|Pk"
    assert planned.stages[1].stores == ("shared",)


def test_processor_stands_behind_a_table_that_it_reads() -> None:
    app = builder()
    app.table("rows", store="rows-store")
    app.stream("events").process(Sharing, stores=["rows-store"]).to("out")

    planned = _plan(app, rows=1, events=1)

    assert _kinds(planned) == "k|kPk"
    assert [stage.stores for stage in planned.stages] == [(), ("rows-store",), (), ()]


def test_processor_stands_behind_a_global_table_that_it_reads() -> None:
    app = builder()
    app.global_table("rows", store="rows-store")
    app.stream("events").process(Sharing, stores=["rows-store"]).to("out")

    planned = _plan(app, rows=1, events=1)

    assert _kinds(planned) == "k|kPk"
    assert planned.stages[1].stores == ("rows-store",)


def test_store_shared_around_a_step_that_is_not_python_is_refused() -> None:
    app = builder()
    app.add_state_store(bm.key_value_store("shared", key=str, value=str))
    first = app.stream("in").process_values(Sharing, stores=["shared"], name="first")
    between = first.map_values(any_function, name="between")
    between.process_values(Sharing, stores=["shared"], name="second")

    told = _faults(app, **{"in": 1})

    assert "The Python processors first and second share the store 'shared', and between" in told
    assert "or give each processor a store of its own." in told


def test_more_stages_than_there_is_room_for_are_refused() -> None:
    app = builder()
    stream = app.stream("in")
    for _ in range(8):
        stream = stream.map_values(bm.python(same)).map_values(any_function)
    stream.to("out")

    told = _faults(app, **{"in": 1})

    assert "The program has 17 stages, more than 16" in told
    assert "Put Python steps next to each other" in told


@pytest.mark.parametrize("name", [name for name in PLANNED if "python" not in name])
def test_without_python_every_stage_but_the_first_begins_an_operator(name: str) -> None:
    planned = plan(PLANNED[name].build().build(), PLANNED[name].partitions)

    assert set(_kinds(planned)) <= {"k", "|"}
    assert all(stage.exchange for stage in planned.stages[1:])

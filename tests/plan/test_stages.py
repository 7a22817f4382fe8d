"""What runs before the first exchange, what behind which one, and in how many tasks."""

from __future__ import annotations

import re

import pytest

import brookmere as bm
from brookmere.plan import Plan, plan
from brookmere.topology.nodes import ProcessorNode
from tests.plan.programs import PLANNED
from tests.topology.programs import any_function, builder


def planned(name: str) -> Plan:
    return plan(PLANNED[name].build().build(), PLANNED[name].partitions)


def stores_by_stage(found: Plan) -> list[tuple[str, ...]]:
    return [stage.stores for stage in found.stages]


def test_program_without_state_has_one_stage_and_no_exchange() -> None:
    found = planned("stateless")

    assert [stage.number for stage in found.stages] == [0]
    assert found.tasks == 3


def test_each_repartition_in_a_row_is_a_stage_later() -> None:
    assert stores_by_stage(planned("chained")) == [(), ("first",), ("second",), ("third",)]


def test_stage_is_one_later_than_the_latest_that_sends_to_it() -> None:
    app = builder()
    early = app.stream("early").group_by(any_function, name="early-group")
    late = app.stream("late").group_by(any_function).count(store="first").to_stream()
    both = late.group_by(any_function, name="late-group").cogroup(any_function).cogroup(early, any_function)
    both.aggregate(0, store="second")

    assert stores_by_stage(plan(app.build(), {"early": 1, "late": 1})) == [(), ("first",), ("second",)]


def test_source_and_repartition_may_feed_one_stage() -> None:
    assert stores_by_stage(planned("mixed")) == [(), ("totals",)]


def test_stateless_part_behind_a_stateful_one_stays_in_its_stage() -> None:
    app = builder()
    stream = app.stream("in").filter(any_function, name="before")
    stream.group_by_key().count(store="counts").to_stream().filter(any_function, name="after").to("out")

    stage_of = plan(app.build(), {"in": 1}).stage_of()

    assert (stage_of["before"], stage_of["after"]) == (0, 1)


def test_two_results_of_one_stream_share_a_stage() -> None:
    app = builder()
    grouped = app.stream("in").group_by_key()
    grouped.count(store="counts")
    grouped.reduce(any_function, store="sums")

    assert stores_by_stage(plan(app.build(), {"in": 1})) == [(), ("counts", "sums")]


def test_there_are_as_many_tasks_as_the_widest_topic_has_partitions() -> None:
    assert planned("fan_out").tasks == 6
    assert planned("mixed").tasks == 3


def test_partitions_of_repartitions_follow_from_the_topics() -> None:
    partitions = planned("chained").partitions

    assert set(partitions.values()) == {4}
    assert len(partitions) == 4


def test_topics_of_a_pattern_are_found_among_those_there_are() -> None:
    app = builder()
    app.stream(re.compile("orders-.*")).group_by_key().count()

    found = plan(app.build(), {"orders-b": 2, "orders-a": 1, "other": 9})

    assert found.topics == ("orders-a", "orders-b")
    assert found.tasks == 2


def test_topics_nobody_reads_do_not_count() -> None:
    app = builder()
    app.stream("in").to("out")

    assert plan(app.build(), {"in": 2, "out": 12}).tasks == 2


def test_every_node_stands_in_exactly_one_stage() -> None:
    for name in PLANNED:
        found = planned(name)
        nodes = [node.name for stage in found.stages for node in stage.nodes]

        assert sorted(nodes) == sorted(node.name for node in found.topology.nodes)


def test_stage_0_keeps_nothing() -> None:
    for name in PLANNED:
        assert not any(
            node.stores for node in planned(name).stages[0].nodes if isinstance(node, ProcessorNode)
        )


def test_unknown_topic_is_refused_with_the_nearest() -> None:
    app = builder()
    app.stream("orders").to("out")

    with pytest.raises(bm.errors.TopologyError) as caught:
        plan(app.build(), {"ordres": 1})

    (fault,) = caught.value.faults
    assert fault.what == "Topic 'orders' does not exist"
    assert fault.remedy == "Create it before the start; did you mean 'ordres'?"
    assert "test_stages.py" in (fault.where or "")


def test_unequal_partitions_of_grouped_topics_are_refused() -> None:
    app = builder()
    left, right = app.stream("left").group_by_key(), app.stream("right").group_by_key()
    left.cogroup(any_function).cogroup(right, any_function).aggregate(0)

    with pytest.raises(bm.errors.TopologyError, match=r"left has 2, right has 3"):
        plan(app.build(), {"left": 2, "right": 3})

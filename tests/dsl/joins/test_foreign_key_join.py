"""Foreign-key joins: the subscription, its response, and what each side sends."""

from __future__ import annotations

import pytest

import brookmere as bm
from brookmere.topology.nodes import SinkNode, SourceNode
from brookmere.topology.operators import (
    ForeignUpdate,
    ResponseJoin,
    SubscriptionJoin,
    SubscriptionReceive,
    SubscriptionSend,
    TableSource,
)
from tests.dsl.nodes import processor
from tests.topology.programs import any_function, builder


def follow(**options: object) -> bm.StreamsBuilder:
    app = builder()
    left, right = app.table("l", store="left"), app.table("r", store="right")
    left.join(right, any_function, foreign_key=any_function, name="f", **options)  # type: ignore[arg-type]
    return app


def test_left_row_subscribes_and_receives_the_response() -> None:
    topology = follow(how="left").build()

    send = processor(topology, "f-subscription-registration-processor").operator
    assert isinstance(send, SubscriptionSend)
    assert send.how == "left"
    assert processor(topology, "f-subscription-receive").operator == SubscriptionReceive(
        "f-subscription-store"
    )
    answer = processor(topology, "f-subscription-join-foreign")
    assert answer.operator == SubscriptionJoin("KTABLE-SOURCE-0000000003")
    assert answer.stores == ("right",)
    respond = processor(topology, "f-subscription-response-resolver")
    assert isinstance(respond.operator, ResponseJoin)
    assert (respond.operator.left, respond.stores) == ("KTABLE-SOURCE-0000000001", ("left",))
    assert processor(topology, "f-result").operator == TableSource(None)


def test_right_updates_find_the_subscriptions_in_the_same_store() -> None:
    topology = follow().build()

    update = processor(topology, "f-foreign-join-subscription")
    assert update.operator == ForeignUpdate("f-subscription-store")
    assert update.parents == ("KTABLE-SOURCE-0000000003",)
    assert [s.name for s in topology.stores if s.kind == "subscriptions"] == ["f-subscription-store"]


def test_both_tables_send_old_values() -> None:
    topology = follow().build()

    sources = [n.operator for n in topology.nodes if n.name.startswith("KTABLE-SOURCE-") and n.operator]  # type: ignore[union-attr]
    assert sources == [TableSource("left", send_old=True), TableSource("right", send_old=True)]


def test_internal_topics_are_repartitions_copartitioned_with_the_tables_they_lead_to() -> None:
    topology = follow().build()

    ask, tell = "f-subscription-registration-topic", "f-subscription-response-topic"
    assert [repartition.topic for repartition in topology.repartitions] == [ask, tell]
    assert [(n.topic, n.internal) for n in topology.nodes if isinstance(n, SinkNode)] == [
        (ask, True),
        (tell, True),
    ]
    internal = [n.topics for n in topology.nodes if isinstance(n, SourceNode) and n.internal]
    assert internal == [(ask,), (tell,)]
    assert {frozenset(group) for group in topology.copartitioned} == {
        frozenset({"l", tell}),
        frozenset({"r", ask}),
    }


def test_result_gets_a_store_when_it_is_read() -> None:
    app = builder()
    joined = app.table("l").join(app.table("r"), any_function, foreign_key=any_function)
    app.stream("in").join(joined, any_function, name="look")

    topology = app.build()

    (store,) = processor(topology, "look").stores
    assert store.startswith("KTABLE-FK-JOIN-OUTPUT-STATE-STORE-")
    assert joined.queryable_store_name is None


def test_outer_join_by_foreign_key_is_refused() -> None:
    app = builder()

    with pytest.raises(bm.errors.TopologyError) as error:
        app.table("l").join(app.table("r"), any_function, foreign_key=any_function, how="outer")

    (fault,) = error.value.faults
    assert fault.what == "A join with a KTable by foreign_key= cannot be 'outer'"
    assert fault.remedy == "Use 'inner' or 'left'"

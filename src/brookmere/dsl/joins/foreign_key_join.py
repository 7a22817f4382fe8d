"""Foreign-key joins: the steps for subscriptions to right rows, and for their responses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from brookmere.dsl.graph.old_values import send_old_values
from brookmere.dsl.graph.steps import ProcessorStep
from brookmere.dsl.graph.views import is_versioned, store_names_behind
from brookmere.dsl.joins.join_steps import InternalSinkStep, InternalSourceStep
from brookmere.topology.function import Function, here
from brookmere.topology.nodes import Store, StoreType
from brookmere.topology.operators import (
    ForeignUpdate,
    How,
    Operator,
    ResponseJoin,
    SubscriptionJoin,
    SubscriptionReceive,
    SubscriptionSend,
    TableSource,
)

if TYPE_CHECKING:
    from brookmere.dsl.graph.graph import Graph
    from brookmere.dsl.table import KTable

_JOIN = "KTABLE-FK-JOIN-"
_OUTPUT = f"{_JOIN}OUTPUT-"


def join_foreign(
    left: KTable,
    right: KTable,
    joiner: Function,
    key: Function,
    how: How,
    store: str | None,
    store_type: StoreType,
    name: str | None,
) -> KTable:
    """Return the table that joins each left row with the right row whose key it names."""
    graph, location = left._graph, here()
    # The old value shows which key a left row named before, and whether a right row has changed at all.
    send_old_values(right._step, force=True)
    send_old_values(left._step, force=True)
    names = _Names(graph, name)

    def processor(node: str, operator: Operator, kept: Store | None = None, *looks: str) -> ProcessorStep:
        return ProcessorStep(name=node, location=location, operator=operator, store=kept, looks_into=looks)

    send = processor(names.send, SubscriptionSend(key, how, is_versioned(left._step)))
    graph.add(send, left._step)
    registered = InternalSinkStep(
        name=names.registration_sink, location=location, topic=names.registration_topic, key=right._key
    )
    graph.add(registered, send)
    registrations = InternalSourceStep(
        name=names.registration_source, location=location, topic=names.registration_topic, key=right._key
    )
    graph.add(registrations, registered)
    graph.copartitioned.append((*right._sources, registrations.name))

    waiting = Store(names.store, kind="subscriptions")
    receive = processor(names.receive, SubscriptionReceive(waiting.name), waiting)
    graph.add(receive, registrations)
    behind_right = store_names_behind(right._step)
    subscription_join = processor(names.join, SubscriptionJoin(right._step.name), None, *behind_right)
    graph.add(subscription_join, receive)
    update = ForeignUpdate(waiting.name, is_versioned(right._step))
    right_update = processor(names.update, update, waiting)
    graph.add(right_update, right._step)

    responded = InternalSinkStep(
        name=names.response_sink, location=location, topic=names.response_topic, key=left._key
    )
    graph.add(responded, subscription_join, right_update)
    responses = InternalSourceStep(
        name=names.response_source, location=location, topic=names.response_topic, key=left._key
    )
    graph.add(responses, responded)
    sources = (*left._sources, responses.name)
    graph.copartitioned.append(sources)

    behind_left = store_names_behind(left._step)
    respond = processor(names.respond, ResponseJoin(left._step.name, how, joiner), None, *behind_left)
    graph.add(respond, responses)
    kept = replace(graph.store(store, _OUTPUT, store_type), key=left._key)
    result = processor(names.result, TableSource(store), kept)
    graph.add(result, respond)
    return replace(left, _step=result, _value=None, _sources=sources, _store=store)


class _Names:
    """The names of the nodes, topics and the store, in the order in which Kafka Streams numbers them."""

    def __init__(self, graph: Graph, name: str | None) -> None:
        def choose(suffix: str, prefix: str) -> str:
            return graph.names.choose(name, prefix, suffix)

        self.registration_topic = (
            choose("-subscription-registration", f"{_JOIN}SUBSCRIPTION-REGISTRATION-") + "-topic"
        )
        self.send = choose("-subscription-registration-processor", f"{_JOIN}SUBSCRIPTION-REGISTRATION-")
        self.registration_sink = choose("-subscription-registration-sink", "KTABLE-SINK-")
        self.registration_source = choose("-subscription-registration-source", "KTABLE-SOURCE-")
        self.store = choose("-subscription-store", f"{_JOIN}SUBSCRIPTION-STATE-STORE-")
        self.receive = choose("-subscription-receive", f"{_JOIN}SUBSCRIPTION-PROCESSOR-")
        self.join = choose("-subscription-join-foreign", f"{_JOIN}SUBSCRIPTION-PROCESSOR-")
        self.update = choose("-foreign-join-subscription", f"{_JOIN}SUBSCRIPTION-PROCESSOR-")
        self.response_topic = choose("-subscription-response", f"{_JOIN}SUBSCRIPTION-RESPONSE-") + "-topic"
        self.response_sink = choose("-subscription-response-sink", "KTABLE-SINK-")
        self.response_source = choose("-subscription-response-source", "KTABLE-SOURCE-")
        self.respond = choose(
            "-subscription-response-resolver", f"{_JOIN}SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR-"
        )
        self.result = choose("-result", _OUTPUT)

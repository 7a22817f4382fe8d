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
    asked = InternalSinkStep(name=names.ask_sink, location=location, topic=names.ask_topic, key=right._key)
    graph.add(asked, send)
    asking = InternalSourceStep(
        name=names.ask_source, location=location, topic=names.ask_topic, key=right._key
    )
    graph.add(asking, asked)
    graph.copartitioned.append((*right._sources, asking.name))

    waiting = Store(names.store, kind="subscriptions")
    receive = processor(names.receive, SubscriptionReceive(waiting.name), waiting)
    graph.add(receive, asking)
    behind_right = store_names_behind(right._step)
    answer = processor(names.join, SubscriptionJoin(right._step.name), None, *behind_right)
    graph.add(answer, receive)
    update = ForeignUpdate(waiting.name, is_versioned(right._step))
    tell = processor(names.update, update, waiting)
    graph.add(tell, right._step)

    told = InternalSinkStep(name=names.tell_sink, location=location, topic=names.tell_topic, key=left._key)
    graph.add(told, answer, tell)
    telling = InternalSourceStep(
        name=names.tell_source, location=location, topic=names.tell_topic, key=left._key
    )
    graph.add(telling, told)
    sources = (*left._sources, telling.name)
    graph.copartitioned.append(sources)

    behind_left = store_names_behind(left._step)
    respond = processor(names.respond, ResponseJoin(left._step.name, how, joiner), None, *behind_left)
    graph.add(respond, telling)
    kept = replace(graph.store(store, _OUTPUT, store_type), key=left._key)
    result = processor(names.result, TableSource(store), kept)
    graph.add(result, respond)
    return replace(left, _step=result, _value=None, _sources=sources, _store=store)


class _Names:
    """The names of the nodes, topics and the store, in the order in which Kafka Streams numbers them."""

    def __init__(self, graph: Graph, name: str | None) -> None:
        def choose(suffix: str, prefix: str) -> str:
            return graph.names.choose(name, prefix, suffix)

        self.ask_topic = choose("-subscription-registration", f"{_JOIN}SUBSCRIPTION-REGISTRATION-") + "-topic"
        self.send = choose("-subscription-registration-processor", f"{_JOIN}SUBSCRIPTION-REGISTRATION-")
        self.ask_sink = choose("-subscription-registration-sink", "KTABLE-SINK-")
        self.ask_source = choose("-subscription-registration-source", "KTABLE-SOURCE-")
        self.store = choose("-subscription-store", f"{_JOIN}SUBSCRIPTION-STATE-STORE-")
        self.receive = choose("-subscription-receive", f"{_JOIN}SUBSCRIPTION-PROCESSOR-")
        self.join = choose("-subscription-join-foreign", f"{_JOIN}SUBSCRIPTION-PROCESSOR-")
        self.update = choose("-foreign-join-subscription", f"{_JOIN}SUBSCRIPTION-PROCESSOR-")
        self.tell_topic = choose("-subscription-response", f"{_JOIN}SUBSCRIPTION-RESPONSE-") + "-topic"
        self.tell_sink = choose("-subscription-response-sink", "KTABLE-SINK-")
        self.tell_source = choose("-subscription-response-source", "KTABLE-SOURCE-")
        self.respond = choose(
            "-subscription-response-resolver", f"{_JOIN}SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR-"
        )
        self.result = choose("-result", _OUTPUT)

"""Turns the operators of joins into calls of the kernel's program builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from brookmere.errors import InternalError
from brookmere.run.expressions.columns import JOINER, RECORD, column
from brookmere.run.expressions.faults import about
from brookmere.topology import join_operators as jo
from brookmere.topology.nodes import ProcessorNode, Topology

if TYPE_CHECKING:
    from brookmere.run.compile.operators import At, Processors

Add = Callable[["Processors", ProcessorNode, Any, "At"], None]


def looked_into(topology: Topology, node: ProcessorNode) -> tuple[str, ...]:
    """Return the nodes that a join looks into, beside the one that it hears."""
    match node.operator:
        case jo.StreamTableJoin(table=name) | jo.GlobalJoin(table=name) | jo.TableJoin(other=name):
            return (name,)
        case jo.SubscriptionJoin(right=name) | jo.ResponseJoin(left=name):
            return (name,)
        case jo.StreamJoin(other=store) | jo.ForeignUpdate(store=store):
            return (keeper_of(topology, store),)
    return ()


def keeper_of(topology: Topology, store: str) -> str:
    """Return the node that fills a store which another node of the join looks into."""
    for node in topology.nodes:
        match node.operator if isinstance(node, ProcessorNode) else None:
            case jo.JoinBuffer(store=kept) | jo.SubscriptionReceive(store=kept) if kept == store:
                return node.name
    raise InternalError(f"nothing fills the store {store!r} of a join")


def _stream_table(processors: Processors, node: ProcessorNode, o: jo.StreamTableJoin, at: At) -> None:
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)._jc
        table, is_left = processors.numbers[o.table], o.how == "left"
        if o.grace_ms is None:
            processors.builder.streamTableJoin(*at, table, is_left, joiner)
        else:
            kind = processors.kind(o.buffer)
            processors.builder.waitingJoin(
                *at, table, is_left, joiner, o.buffer, kind, o.grace_ms, o.drop_late
            )


def _global(processors: Processors, node: ProcessorNode, o: jo.GlobalJoin, at: At) -> None:
    with about(o.key, node.name, None):
        key = column(o.key, RECORD)._jc
        processors.builder.columnType(at[3][0], key)
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)._jc
        processors.builder.globalJoin(*at, processors.numbers[o.table], key, o.how == "left", joiner)


def _table(processors: Processors, node: ProcessorNode, o: jo.TableJoin, at: At) -> None:
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)._jc
        other = processors.numbers[o.other]
        processors.builder.tableJoin(
            *at, other, o.side == "left", o.how, joiner, o.send_old, o.versioned
        )  # fmt: skip


def _merge(processors: Processors, node: ProcessorNode, o: jo.TableJoinMerge, at: At) -> None:
    sides = (
        n.operator
        for n in processors.plan.topology.nodes
        if isinstance(n, ProcessorNode) and n.name in node.parents
    )
    how = next(side.how for side in sides if isinstance(side, jo.TableJoin))
    processors.builder.tableJoinMerge(*at, how, o.store, processors.kind(o.store), o.send_old)


def _send(processors: Processors, node: ProcessorNode, o: jo.SubscriptionSend, at: At) -> None:
    with about(o.key, node.name, None):
        key = column(o.key, RECORD)._jc
        processors.builder.subscriptionSend(*at, key, o.how == "left", o.versioned)


def _receive(processors: Processors, _node: ProcessorNode, o: jo.SubscriptionReceive, at: At) -> None:
    processors.builder.subscriptionReceive(*at, o.store, processors.kind(o.store))


def _answer(processors: Processors, _node: ProcessorNode, o: jo.SubscriptionJoin, at: At) -> None:
    processors.builder.subscriptionJoin(*at, processors.numbers[o.right])


def _foreign_update(processors: Processors, _node: ProcessorNode, o: jo.ForeignUpdate, at: At) -> None:
    processors.builder.foreignUpdate(*at, o.store, o.versioned)


def _response(processors: Processors, node: ProcessorNode, o: jo.ResponseJoin, at: At) -> None:
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)._jc
        processors.builder.responseJoin(*at, processors.numbers[o.left], o.how == "left", joiner)


JOINING: dict[type, Add] = {
    jo.StreamTableJoin: _stream_table,
    jo.GlobalJoin: _global,
    jo.TableJoin: _table,
    jo.TableJoinMerge: _merge,
    jo.SubscriptionSend: _send,
    jo.SubscriptionReceive: _receive,
    jo.SubscriptionJoin: _answer,
    jo.ForeignUpdate: _foreign_update,
    jo.ResponseJoin: _response,
}

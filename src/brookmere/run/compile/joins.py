"""Adds the joins of streams and tables."""

# ruff: noqa: ARG001 - all operators are added by functions of one form

from __future__ import annotations

from brookmere.run.compile.processors import At, Processors
from brookmere.run.expressions.columns import JOINER, RECORD, column
from brookmere.run.expressions.faults import about
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode, Topology
from brookmere.topology.windows import FOREVER


def state_sources(topology: Topology, node: ProcessorNode) -> list[str]:
    """Return the nodes, other than its parents, whose state an operator reads."""
    table = node.operator.lookup_table
    return [*fillers(topology, node), *(() if table is None else (table,))]


def fillers(topology: Topology, node: ProcessorNode) -> list[str]:
    """Return the node that fills the store which an operator shares with it; none if it shares no store."""
    store = node.operator.shared_store
    if store is None:
        return []
    return [keeper.name for keeper in topology.keepers(store) if keeper.operator.shared_store != store]


def add_join_buffer(p: Processors, node: ProcessorNode, o: op.JoinBuffer, at: At) -> None:
    retention = p.plan.topology.store(o.store).retention_ms
    p.builder.joinBuffer(*at, o.store, p.kind(o.store), FOREVER if retention is None else retention)


def add_stream_join(p: Processors, node: ProcessorNode, o: op.StreamJoin, at: At) -> None:
    is_outer = o.how == "outer" or (o.how == "left" and o.side == "left")
    (buffer,) = fillers(p.plan.topology, node)
    span = p.builder.joinSpan(o.windows.before_ms, o.windows.after_ms, o.windows.grace_ms)
    with about(o.joiner, node.name, None):
        p.builder.streamJoin(
            *at, o.side == "left", is_outer, p.numbers[buffer], o.other, o.unmatched,
            p.kind(o.unmatched), o.clock, span, column(o.joiner, JOINER)._jc, o.drop_late, o.wait_for_grace,
        )  # fmt: skip


def add_stream_self_join(p: Processors, node: ProcessorNode, o: op.StreamSelfJoin, at: At) -> None:
    span = p.builder.joinSpan(o.windows.before_ms, o.windows.after_ms, o.windows.grace_ms)
    with about(o.joiner, node.name, None):
        p.builder.streamSelfJoin(*at, o.store, span, column(o.joiner, JOINER)._jc)


def add_stream_table_join(p: Processors, node: ProcessorNode, o: op.StreamTableJoin, at: At) -> None:
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)._jc
        table, is_left = p.numbers[o.table], o.how == "left"
        if o.grace_ms is None:
            p.builder.streamTableJoin(*at, table, is_left, joiner)
        else:
            kind = p.kind(o.buffer)
            p.builder.waitingJoin(*at, table, is_left, joiner, o.buffer, kind, o.grace_ms, o.drop_late)


def add_global_join(p: Processors, node: ProcessorNode, o: op.GlobalJoin, at: At) -> None:
    with about(o.key, node.name, None):
        key = column(o.key, RECORD)._jc
        p.builder.columnType(at[3][0], key)
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)._jc
        p.builder.globalJoin(*at, p.numbers[o.table], key, o.how == "left", joiner)


def add_table_join(p: Processors, node: ProcessorNode, o: op.TableJoin, at: At) -> None:
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)._jc
        other = p.numbers[o.other]
        p.builder.tableJoin(
            *at, other, o.side == "left", o.how, joiner, o.send_old, o.versioned
        )  # fmt: skip


def add_table_join_merge(p: Processors, node: ProcessorNode, o: op.TableJoinMerge, at: At) -> None:
    sides = (
        n.operator for n in p.plan.topology.nodes if isinstance(n, ProcessorNode) and n.name in node.parents
    )
    how = next(side.how for side in sides if isinstance(side, op.TableJoin))
    p.builder.tableJoinMerge(*at, how, o.store, p.kind(o.store), o.send_old)


def add_subscription_send(p: Processors, node: ProcessorNode, o: op.SubscriptionSend, at: At) -> None:
    with about(o.key, node.name, None):
        key = column(o.key, RECORD)._jc
        p.builder.subscriptionSend(*at, key, o.how == "left", o.versioned)


def add_subscription_receive(p: Processors, node: ProcessorNode, o: op.SubscriptionReceive, at: At) -> None:
    p.builder.subscriptionReceive(*at, o.store, p.kind(o.store))


def add_subscription_join(p: Processors, node: ProcessorNode, o: op.SubscriptionJoin, at: At) -> None:
    p.builder.subscriptionJoin(*at, p.numbers[o.right])


def add_foreign_update(p: Processors, node: ProcessorNode, o: op.ForeignUpdate, at: At) -> None:
    p.builder.foreignUpdate(*at, o.store, o.versioned)


def add_response_join(p: Processors, node: ProcessorNode, o: op.ResponseJoin, at: At) -> None:
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)._jc
        p.builder.responseJoin(*at, p.numbers[o.left], o.how == "left", joiner)

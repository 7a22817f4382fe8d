"""Adds the joins of streams and tables."""

# ruff: noqa: ARG001 - all operators are added by functions of one form

from __future__ import annotations

from brookmere.run.compile.build_context import Processors
from brookmere.run.expressions.columns import JOINER, RECORD, column
from brookmere.run.expressions.faults import about
from brookmere.run.program_builder import (
    JoinSpanSpec,
    LookupSpec,
    Place,
    StreamJoinSpec,
    TableJoinSpec,
)
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode, Topology
from brookmere.topology.windows import JoinWindows


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


def add_join_buffer(p: Processors, node: ProcessorNode, o: op.JoinBuffer, at: Place) -> None:
    p.builder.join_buffer(at, p.timed_store(o.store))


def add_stream_join(p: Processors, node: ProcessorNode, o: op.StreamJoin, at: Place) -> None:
    is_outer = o.how == "outer" or (o.how == "left" and o.side == "left")
    (buffer,) = fillers(p.plan.topology, node)
    join = StreamJoinSpec(
        o.side == "left", is_outer, p.numbers[buffer], o.other, o.clock, o.drop_late, o.wait_for_grace
    )
    with about(o.joiner, node.name, None):
        joiner = column(o.joiner, JOINER)
        p.builder.stream_join(at, join, p.store_if_any(o.unmatched), _span(o.windows), joiner)


def add_stream_self_join(p: Processors, node: ProcessorNode, o: op.StreamSelfJoin, at: Place) -> None:
    with about(o.joiner, node.name, None):
        p.builder.stream_self_join(at, o.store, _span(o.windows), column(o.joiner, JOINER))


def add_stream_table_join(p: Processors, node: ProcessorNode, o: op.StreamTableJoin, at: Place) -> None:
    with about(o.joiner, node.name, None):
        lookup = LookupSpec(p.numbers[o.table], o.how == "left", column(o.joiner, JOINER))
        if o.grace_ms is None or o.buffer is None:
            p.builder.stream_table_join(at, lookup)
        else:
            p.builder.waiting_join(at, lookup, p.store(o.buffer), o.grace_ms, o.drop_late)


def add_global_join(p: Processors, node: ProcessorNode, o: op.GlobalJoin, at: Place) -> None:
    with about(o.key, node.name, None):
        key = column(o.key, RECORD)
        p.builder.column_type(at.parents[0], key)
    with about(o.joiner, node.name, None):
        lookup = LookupSpec(p.numbers[o.table], o.how == "left", column(o.joiner, JOINER))
        p.builder.global_join(at, lookup, key)


def add_table_join(p: Processors, node: ProcessorNode, o: op.TableJoin, at: Place) -> None:
    with about(o.joiner, node.name, None):
        join = TableJoinSpec(p.numbers[o.other], o.side == "left", o.how, column(o.joiner, JOINER))
        p.builder.table_join(at, join, o.send_old, o.versioned)


def add_table_join_merge(p: Processors, node: ProcessorNode, o: op.TableJoinMerge, at: Place) -> None:
    sides = (
        n.operator for n in p.plan.topology.nodes if isinstance(n, ProcessorNode) and n.name in node.parents
    )
    how = next(side.how for side in sides if isinstance(side, op.TableJoin))
    p.builder.table_join_merge(at, how, p.store_if_any(o.store), o.send_old)


def add_subscription_send(p: Processors, node: ProcessorNode, o: op.SubscriptionSend, at: Place) -> None:
    with about(o.key, node.name, None):
        key = column(o.key, RECORD)
        p.builder.subscription_send(at, key, o.how == "left", o.versioned)


def add_subscription_receive(p: Processors, _: ProcessorNode, o: op.SubscriptionReceive, at: Place) -> None:
    p.builder.subscription_receive(at, p.store(o.store))


def add_subscription_join(p: Processors, node: ProcessorNode, o: op.SubscriptionJoin, at: Place) -> None:
    p.builder.subscription_join(at, p.numbers[o.right])


def add_foreign_update(p: Processors, node: ProcessorNode, o: op.ForeignUpdate, at: Place) -> None:
    p.builder.foreign_update(at, o.store, o.versioned)


def add_response_join(p: Processors, node: ProcessorNode, o: op.ResponseJoin, at: Place) -> None:
    with about(o.joiner, node.name, None):
        lookup = LookupSpec(p.numbers[o.left], o.how == "left", column(o.joiner, JOINER))
        p.builder.response_join(at, lookup)


def _span(windows: JoinWindows) -> JoinSpanSpec:
    return JoinSpanSpec(windows.before_ms, windows.after_ms, windows.grace_ms)

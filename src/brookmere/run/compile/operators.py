"""How each operator is added to the kernel's program: `ADD` registers one function per operator class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brookmere.errors import UnsupportedError
from brookmere.run.compile import aggregates, joins, stateless, tables, windows
from brookmere.run.compile.build_context import Processors
from brookmere.run.program_builder import Place
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode

ADD: dict[type[op.Operator], Callable[[Processors, ProcessorNode, Any, Place], None]] = {
    op.Filter: stateless.add_filter,
    op.Map: stateless.add_map,
    op.MapValues: stateless.add_map_values,
    op.SelectKey: stateless.add_select_key,
    op.FlatMap: stateless.add_flat_map,
    op.FlatMapValues: stateless.add_flat_map_values,
    op.Branch: stateless.add_branch,
    op.Tap: stateless.add_tap,
    op.PassThrough: stateless.add_pass_through,
    op.KeyNotNull: stateless.add_key_not_null,
    op.Dedupe: aggregates.add_dedupe,
    op.Aggregate: aggregates.add_aggregate,
    op.TableAggregate: aggregates.add_table_aggregate,
    op.WindowAggregate: windows.add_window_aggregate,
    op.Suppress: windows.add_suppress,
    op.TableSource: tables.add_table_source,
    op.TableFilter: tables.add_table_filter,
    op.TableMapValues: tables.add_table_map_values,
    op.TableToStream: tables.add_table_to_stream,
    op.TableGroup: tables.add_table_group,
    op.JoinBuffer: joins.add_join_buffer,
    op.StreamJoin: joins.add_stream_join,
    op.StreamSelfJoin: joins.add_stream_self_join,
    op.StreamTableJoin: joins.add_stream_table_join,
    op.GlobalJoin: joins.add_global_join,
    op.TableJoin: joins.add_table_join,
    op.TableJoinMerge: joins.add_table_join_merge,
    op.SubscriptionSend: joins.add_subscription_send,
    op.SubscriptionReceive: joins.add_subscription_receive,
    op.SubscriptionJoin: joins.add_subscription_join,
    op.ForeignUpdate: joins.add_foreign_update,
    op.ResponseJoin: joins.add_response_join,
}
"""Operators that run in the kernel. Those with Python functions are compiled by `compile/python/work.py`."""


def add_operator(processors: Processors, node: ProcessorNode, at: Place) -> None:
    """Add the operator of a processor to the program."""
    operator = node.operator
    add = ADD.get(type(operator))
    if add is None:
        raise UnsupportedError(f"{type(operator).__name__}, node {node.name}, does not run in the kernel")
    add(processors, node, operator, at)
    if operator.idle_after_ms is not None:
        processors.builder.close_idle(at.number, operator.idle_after_ms)

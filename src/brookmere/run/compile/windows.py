"""Turns windowed aggregates, suppression and joins of streams into calls of the kernel's program builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from brookmere.run.compile.aggregates import initial_column, java_column, step_column
from brookmere.run.compile.joins import keeper_of
from brookmere.run.expressions.columns import JOINER, REDUCER, column
from brookmere.run.expressions.faults import about
from brookmere.topology import join_operators as jo
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.windows import FOREVER, SessionWindows, SlidingWindows, TimeWindows

if TYPE_CHECKING:
    from brookmere.run.compile.operators import At, Processors


def _window_aggregate(p: Processors, node: ProcessorNode, o: op.WindowAggregate, at: At) -> None:
    folded = p.folded(o.step, node, p.numbers[node.parents[0]])
    initial = folded.initial if folded else initial_column(o.initial)
    step = folded.add if folded else step_column(o.step, o.initial)
    merge = None
    if isinstance(o.windows, SessionWindows):
        if o.merger is not None:
            with about(o.merger, node.name, None):
                merge = column(o.merger, REDUCER)
        elif folded is not None:
            merge = folded.unite
    store = p.plan.topology.store(o.store)
    retention = FOREVER if store.retention_ms is None else store.retention_ms
    kind = p.kind(o.store)
    with about(o.step, node.name, str(node.location)):
        kept = p.kept_type(o.store, initial)
        result = folded.result if folded else None
        fold = p.builder.foldOf(
            at[1],
            at[3],
            o.store,
            java_column(initial),
            step._jc,
            java_column(merge),
            kept,
            java_column(result),
        )
        emission = p.builder.emission(o.send_old, o.emit == "close", o.emit_all, o.skip_nulls)
        common = (*at, kind, retention, fold, emission)
        match o.windows:
            case TimeWindows(size_ms=size, advance_ms=advance, grace_ms=grace):
                p.builder.timeWindows(*common, size, advance, grace, 0)
            case SlidingWindows(difference_ms=difference, grace_ms=grace):
                p.builder.slidingWindows(*common, difference, grace)
            case SessionWindows(gap_ms=gap, grace_ms=grace):
                p.builder.sessionWindows(*common, gap, grace)
            case _:
                p.builder.timeWindows(*common, FOREVER, FOREVER, 0, o.windows.start_ms)


def _suppress(p: Processors, node: ProcessorNode, o: op.Suppress, at: At) -> None:
    records = FOREVER if o.max_records is None else o.max_records
    size = FOREVER if o.max_bytes is None else o.max_bytes
    p.builder.suppress(
        *at, o.store, p.kind(o.store), o.until_window_closes, o.wait_ms, records, size, o.stop_when_full,
        _has_sessions(p, node),
    )  # fmt: skip


def _has_sessions(p: Processors, node: ProcessorNode) -> bool:
    """Tell whether the keys of a table are sessions: the windows nearest above it say so."""
    above = node
    while True:
        parent = p.plan.topology.node(above.parents[0])
        if not isinstance(parent, ProcessorNode):
            return False
        if isinstance(parent.operator, op.WindowAggregate):
            return isinstance(parent.operator.windows, SessionWindows)
        above = parent


def _join_buffer(p: Processors, node: ProcessorNode, o: jo.JoinBuffer, at: At) -> None:  # noqa: ARG001
    retention = p.plan.topology.store(o.store).retention_ms
    p.builder.joinBuffer(*at, o.store, p.kind(o.store), FOREVER if retention is None else retention)


def _stream_join(p: Processors, node: ProcessorNode, o: jo.StreamJoin, at: At) -> None:
    is_outer = o.how == "outer" or (o.how == "left" and o.side == "left")
    buffer = keeper_of(p.plan.topology, o.other)
    span = p.builder.joinSpan(o.windows.before_ms, o.windows.after_ms, o.windows.grace_ms)
    with about(o.joiner, node.name, None):
        p.builder.streamJoin(
            *at, o.side == "left", is_outer, p.numbers[buffer], o.other, o.unmatched,
            p.kind(o.unmatched), o.clock, span, column(o.joiner, JOINER)._jc, o.drop_late, o.wait_for_grace,
        )  # fmt: skip


def _self_join(p: Processors, node: ProcessorNode, o: jo.StreamSelfJoin, at: At) -> None:
    span = p.builder.joinSpan(o.windows.before_ms, o.windows.after_ms, o.windows.grace_ms)
    with about(o.joiner, node.name, None):
        p.builder.streamSelfJoin(*at, o.store, span, column(o.joiner, JOINER)._jc)


WINDOWING: dict[type, Callable[[Processors, ProcessorNode, Any, At], None]] = {
    op.WindowAggregate: _window_aggregate,
    op.Suppress: _suppress,
    jo.JoinBuffer: _join_buffer,
    jo.StreamJoin: _stream_join,
    jo.StreamSelfJoin: _self_join,
}

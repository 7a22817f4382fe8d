"""Adds windowed aggregates and suppression."""

from __future__ import annotations

from brookmere.run.compile.aggregates import java_column, kept_type, parts_of
from brookmere.run.compile.processors import At, Processors
from brookmere.run.expressions.columns import REDUCER, column
from brookmere.run.expressions.faults import about
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.windows import FOREVER, SessionWindows, SlidingWindows, TimeWindows


def add_window_aggregate(p: Processors, node: ProcessorNode, o: op.WindowAggregate, at: At) -> None:
    parts = parts_of(p, node, o.step, o.initial, p.numbers[node.parents[0]])
    merge = None
    if isinstance(o.windows, SessionWindows):
        if o.merger is not None:
            with about(o.merger, node.name, None):
                merge = column(o.merger, REDUCER)
        elif parts.short is not None:
            merge = parts.short.unite
    store = p.plan.topology.store(o.store)
    retention = FOREVER if store.retention_ms is None else store.retention_ms
    kind = p.kind(o.store)
    with about(o.step, node.name, str(node.location)):
        kept = kept_type(p, o.store, parts.initial)
        fold = p.builder.foldOf(
            at[1],
            at[3],
            o.store,
            java_column(parts.initial),
            parts.add._jc,
            java_column(merge),
            kept,
            java_column(parts.result),
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


def add_suppress(p: Processors, node: ProcessorNode, o: op.Suppress, at: At) -> None:
    records = FOREVER if o.max_records is None else o.max_records
    size = FOREVER if o.max_bytes is None else o.max_bytes
    p.builder.suppress(
        *at, o.store, p.kind(o.store), o.until_window_closes, o.wait_ms, records, size, o.stop_when_full,
        _has_sessions(p, node),
    )  # fmt: skip


def _has_sessions(p: Processors, node: ProcessorNode) -> bool:
    """Tell whether the keys of a table are sessions, by the nearest windows above it."""
    above = node
    while True:
        parent = p.plan.topology.node(above.parents[0])
        if not isinstance(parent, ProcessorNode):
            return False
        if isinstance(parent.operator, op.WindowAggregate):
            return isinstance(parent.operator.windows, SessionWindows)
        above = parent

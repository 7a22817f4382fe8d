"""Adds windowed aggregates and suppression."""

from __future__ import annotations

from brookmere.run.compile.aggregates import kept_type, parts_of
from brookmere.run.compile.build_context import Processors
from brookmere.run.expressions.columns import REDUCER, column
from brookmere.run.expressions.faults import about
from brookmere.run.program_builder import (
    EmissionSpec,
    FoldSpec,
    Place,
    SessionWindowSpec,
    SlidingWindowSpec,
    SuppressSpec,
    TimeWindowSpec,
)
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.windows import FOREVER, SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows


def add_window_aggregate(p: Processors, node: ProcessorNode, o: op.WindowAggregate, at: Place) -> None:
    parts = parts_of(p, node, o.step, o.initial, p.numbers[node.parents[0]])
    merge = None
    if isinstance(o.windows, SessionWindows):
        if o.merger is not None:
            with about(o.merger, node.name, None):
                merge = column(o.merger, REDUCER)
        elif parts.short is not None:
            merge = parts.short.unite
    with about(o.step, node.name, str(node.location)):
        kept = kept_type(p, o.store, parts.initial)
        fold = FoldSpec(parts.initial, parts.add, merge, kept, parts.result)
        emission = EmissionSpec(o.send_old, o.emit == "close", o.emit_all, o.skip_nulls)
        store = p.timed_store(o.store)
        match o.windows:
            case TimeWindows(size_ms=size, advance_ms=advance, grace_ms=grace):
                p.builder.time_windows(at, store, fold, emission, TimeWindowSpec(size, advance, grace, 0))
            case SlidingWindows(difference_ms=difference, grace_ms=grace):
                p.builder.sliding_windows(at, store, fold, emission, SlidingWindowSpec(difference, grace))
            case SessionWindows(gap_ms=gap, grace_ms=grace):
                p.builder.session_windows(at, store, fold, emission, SessionWindowSpec(gap, grace))
            case UnlimitedWindows(start_ms=start):
                windows = TimeWindowSpec(FOREVER, FOREVER, 0, start)
                p.builder.time_windows(at, store, fold, emission, windows)


def add_suppress(p: Processors, node: ProcessorNode, o: op.Suppress, at: Place) -> None:
    spec = SuppressSpec(
        o.until_window_closes,
        o.wait_ms,
        FOREVER if o.max_records is None else o.max_records,
        FOREVER if o.max_bytes is None else o.max_bytes,
        o.stop_when_full,
        _has_sessions(p, node),
    )
    p.builder.suppress(at, p.store(o.store), spec)


def _has_sessions(p: Processors, node: ProcessorNode) -> bool:
    """Return whether the keys of a table are sessions, by the nearest windows above it."""
    above = node
    while True:
        parent = p.plan.topology.node(above.parents[0])
        if not isinstance(parent, ProcessorNode):
            return False
        if isinstance(parent.operator, op.WindowAggregate):
            return isinstance(parent.operator.windows, SessionWindows)
        above = parent

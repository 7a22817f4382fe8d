"""Timestamps and the wall clock: where a source takes record times from, and how often ticks are needed."""

from __future__ import annotations

from typing import Any

from brookmere.plan.stages import Plan
from brookmere.run.expressions.columns import RECORD, column
from brookmere.run.program_builder import Program, ProgramBuilder, Reader, SourceTime
from brookmere.topology.function import Function
from brookmere.topology.nodes import ProcessorNode, SourceNode
from brookmere.topology.times import RecordClock

_WALL = "wall-clock"
_LOGS_TICK_MS = 60_000
_SHORTEST_TICK_MS = 10


def source_time(
    builder: ProgramBuilder, node: SourceNode, key: Reader, value: Reader, default: str
) -> SourceTime:
    """Return the kernel's timestamp extractor of a source; `key` and `value` are its readers.

    `default` is the value of the setting default.timestamp.extractor.
    """
    time = node.timestamp
    # Every task reads a global table in full, whenever it was written, so arrival time means nothing.
    by_default = time is None and default == _WALL and not node.is_global
    is_wall = time is RecordClock.WALL or by_default
    on_invalid = node.on_invalid_timestamp or ("fail" if default == _WALL else default)
    extract = column(time, RECORD) if isinstance(time, Function) else None
    return builder.source_time(key, value, extract, is_wall, on_invalid)


def wall_options(plan: Plan, program: Program, clock_ms: int) -> dict[str, Any]:
    """Return the options of a source that concern the wall clock; none if the program does not use it.

    A program with operators that wait for the clock gets a tick every `clock_ms` milliseconds, or more often
    if one of them needs it.
    """
    if not program.needsWall():
        return {}
    if not program.needsTicks():
        return {"wall": "true"}
    nodes = [node for node in plan.topology.nodes if isinstance(node, ProcessorNode)]
    waits = [node.operator.idle_after_ms for node in nodes if node.operator.idle_after_ms is not None]
    has_timers = any(node.operator.has_timers for node in nodes)
    # New changelogs of existing stores need a single tick.
    tick = min([clock_ms, *waits]) if waits or has_timers else max(clock_ms, _LOGS_TICK_MS)
    return {"tick": max(_SHORTEST_TICK_MS, tick)}

"""Turns what a program says about time into the kernel's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from brookmere.plan.stages import Plan
from brookmere.run.expressions.columns import ITEM, RECORD, column
from brookmere.run.expressions.faults import about
from brookmere.topology import join_operators as jo
from brookmere.topology import operators as op
from brookmere.topology.function import Function
from brookmere.topology.nodes import ProcessorNode, SourceNode
from brookmere.topology.times import RecordClock

if TYPE_CHECKING:
    from brookmere.run.compile.operators import At, Processors

_WALL = "wall-clock"
_LOGS_TICK_MS = 60_000
_SHORTEST_TICK_MS = 10


def source_time(session: SparkSession, node: SourceNode, key: Any, value: Any, default: str) -> Any:
    """Return the kernel's extractor of a source whose key and value these readers read.

    `default` is what the setting default.timestamp.extractor says.
    """
    jvm: Any = session._jvm
    time = node.timestamp
    # Every task reads a global table in full, whenever it was written: it has no time of its own.
    by_default = time is None and default == _WALL and not node.is_global
    is_wall = time is RecordClock.WALL or by_default
    on_invalid = node.on_invalid_timestamp or ("fail" if default == _WALL else default)
    extract = column(time, RECORD)._jc if isinstance(time, Function) else None
    return jvm.brookmere.kernel.program.SourceTime.of(
        session._jsparkSession, key, value, extract, is_wall, on_invalid
    )


def wall_options(plan: Plan, program: Any, clock_ms: int) -> dict[str, Any]:
    """Return what a source has to know about the wall clock; nothing if the program does not ask for it.

    A program with operators that wait for the clock gets a tick every `clock_ms` milliseconds, or as often
    as the most impatient of them needs.
    """
    if not program.needsWall():
        return {}
    if not program.needsTicks():
        return {"wall": "true"}
    nodes = [node for node in plan.topology.nodes if isinstance(node, ProcessorNode)]
    patience = [close_idle_ms(node.operator) for node in nodes]
    waits = [ms for ms in patience if ms is not None]
    has_timers = any(isinstance(node.operator, op.Process) for node in nodes)
    # Changelogs that begin late want one tick only.
    tick = min([clock_ms, *waits]) if waits or has_timers else max(clock_ms, _LOGS_TICK_MS)
    return {"tick": max(_SHORTEST_TICK_MS, tick)}


def close_idle_ms(operator: op.Operator) -> int | None:
    """Return after how long without a record an operator's stream time goes on with the wall clock."""
    match operator:
        case jo.StreamJoin(side="right") | jo.StreamJoin(unmatched=None):
            # The sides have one stream time, so one of them is enough; nothing waits in an inner join.
            return None
        case op.WindowAggregate() | op.Suppress() | jo.StreamJoin():
            return operator.close_idle_ms
        case _:
            return None


def expiring_table(processors: Processors, node: ProcessorNode, o: op.TableSource, at: At) -> None:  # noqa: ARG001
    """Add a table whose rows have a time to live."""
    processors.builder.expiringTable(*at, o.store, processors.kind(o.store), o.ttl_ms, o.send_old)


def _dedupe(processors: Processors, node: ProcessorNode, o: op.Dedupe, at: At) -> None:
    with about(o.by, node.name, None):
        by = None if o.by is None else column(o.by, ITEM)._jc
        processors.builder.dedupe(*at, o.store, processors.kind(o.store), by, o.within_ms)


TIMING: dict[type, Callable[[Processors, ProcessorNode, Any, At], None]] = {op.Dedupe: _dedupe}

"""suppress(): hold back the updates of a table until a window closes or a time limit passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.arguments.windows import idle_of
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.old_values import send_old_values
from brookmere.dsl.graph.steps import ProcessorStep, Root, Step
from brookmere.dsl.graph.views import is_versioned
from brookmere.topology.durations import Duration, milliseconds
from brookmere.topology.function import here
from brookmere.topology.nodes import Store
from brookmere.topology.operators import Suppress, WindowAggregate

_SUPPRESS = "KTABLE-SUPPRESS-"

WhenFull = OneOf["emit", "stop"]
"""What to do when the buffer is full: send the oldest updates early, or stop the application."""


@dataclass(frozen=True, slots=True)
class Suppressed:
    """How long updates are held back; without `wait_ms`, until the window closes."""

    wait_ms: int | None
    max_records: int | None
    max_bytes: int | None
    when_full: WhenFull


def until_window_closes(
    *, max_records: int | None = None, max_bytes: int | None = None, when_full: WhenFull = "stop"
) -> Suppressed:
    """Send one result per window: the final one, once the window accepts no more records.

    The buffer may be bounded; when it is full, the application stops, because an early result is not final.
    """
    if when_full != "stop":
        what = f"until_window_closes() sends final results only, found when_full={when_full!r}"
        refuse(what, 'Use when_full="stop", or until_time_limit() if early results will do')
    return Suppressed(None, *_bounds(max_records, max_bytes), when_full)


def until_time_limit(
    duration: Duration,
    *,
    max_records: int | None = None,
    max_bytes: int | None = None,
    when_full: WhenFull = "emit",
) -> Suppressed:
    """Send the latest value of a key once `duration` of stream time has passed since its first update."""
    if when_full not in ("emit", "stop"):
        refuse(f"There is no when_full={when_full!r}", "Use 'emit' or 'stop'")
    wait_ms = milliseconds("duration of until_time_limit", duration)
    return Suppressed(wait_ms, *_bounds(max_records, max_bytes), when_full)


def suppress(
    graph: Graph, above: Step, until: object, close_idle_after: Duration | None, name: str | None
) -> Step:
    """Add the step that holds back the updates of the table `above`."""
    if not isinstance(until, Suppressed):
        remedy = "Pass brookmere.until_window_closes() or brookmere.until_time_limit(duration)"
        refuse(f"suppress() needs a time limit or the close of a window, found {until!r}", remedy)
    if is_versioned(above):
        graph.fault(
            "A versioned table cannot be suppressed",
            "Give the table a store without history=, or remove suppress()",
        )
    node_name = graph.name(name, _SUPPRESS)
    wait_ms = _window_wait(graph, above) if until.wait_ms is None else until.wait_ms
    buffer = graph.names.store(None if name is None else f"{name}-store", _SUPPRESS)
    operator = Suppress(
        buffer,
        until_window_closes=until.wait_ms is None,
        wait_ms=wait_ms,
        max_records=until.max_records,
        max_bytes=until.max_bytes,
        stop_when_full=until.when_full == "stop",
        close_idle_ms=idle_of(close_idle_after),
    )
    # Readers of the table see what was sent last, which the buffer keeps as the old value.
    send_old_values(above, force=True)
    store = Store(buffer, kind="suppressed")
    step = ProcessorStep(name=node_name, location=here(), operator=operator, store=store)
    graph.add(step, above)
    return step


def _bounds(max_records: int | None, max_bytes: int | None) -> tuple[int | None, int | None]:
    for role, bound in (("max_records", max_records), ("max_bytes", max_bytes)):
        if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool) or bound < 0):
            refuse(f"{role} must be an integer of at least 0, found {bound!r}", "Pass an int or None")
    return max_records, max_bytes


def _window_wait(graph: Graph, step: Step) -> int:
    """Return how long the windows of a table can change after their end: the longest of all upstream.

    A table without windows is recorded as a fault.
    """
    try:
        return _wait(step, ())
    except _NoWindowsError as missing:
        way = " -> ".join(missing.way)
        graph.fault(
            f"until_window_closes() needs a windowed table, found {way}",
            "Aggregate with windowed_by(), or use until_time_limit()",
        )
        return 0


class _NoWindowsError(Exception):
    """A table has no windows upstream; `way` names the steps from where they end to the table."""

    def __init__(self, way: tuple[str, ...]) -> None:
        super().__init__()
        self.way = way


def _wait(step: Step, below: tuple[str, ...]) -> int:
    way = (step.name, *below)
    operator = step.operator if isinstance(step, ProcessorStep) else None
    if isinstance(operator, WindowAggregate):
        return operator.windows.wait_ms
    parents = [parent for parent in step.parents if not isinstance(parent, Root)]
    # A new key has no window, even if it is computed from one.
    regroups = operator is not None and operator.takes == "changes" and not operator.keeps_key
    if not parents or step.key_changing or regroups:
        raise _NoWindowsError(way)
    return max(_wait(parent, way) for parent in parents)

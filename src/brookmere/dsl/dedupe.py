"""dedupe(): drop records that repeat an earlier one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brookmere.dsl.arguments.checks import field_or_lambda
from brookmere.dsl.arguments.late_topic import late_topic, send_late
from brookmere.dsl.graph.steps import ProcessorStep
from brookmere.dsl.joins.repartition import with_its_task
from brookmere.topology.durations import Duration, milliseconds
from brookmere.topology.function import here
from brookmere.topology.nodes import StoreType
from brookmere.topology.operators import Dedupe

if TYPE_CHECKING:
    from brookmere.dsl.stream import KStream

_DEDUPE = "KSTREAM-DEDUPE-"


def dedupe(
    stream: KStream,
    within: Duration,
    by: str | Callable[..., Any] | None,
    late_to: str | None,
    store: str | None,
    store_type: StoreType,
    name: str | None,
) -> KStream:
    """Return the stream without records that repeat an earlier one."""
    graph = stream._graph
    within_ms = milliseconds("within of dedupe", within, least=1)
    late = late_topic(graph, late_to)
    same = None if by is None else field_or_lambda("by of dedupe", by)
    stream = with_its_task(stream, name)
    kept = graph.store(store, _DEDUPE, store_type)
    # A record that is up to `within` late is compared with those up to `within` before and after it.
    kept = replace(kept, kind="seen", queryable=False, retention_ms=2 * within_ms)
    step = ProcessorStep(
        name=graph.name(name, _DEDUPE),
        location=here(),
        operator=Dedupe(kept.name, within_ms, same),
        store=kept,
    )
    graph.add(step, stream._step)
    send_late(graph, step, late, stream._key, stream._value)
    return replace(stream, _step=step)

"""Joins of a stream with a stream, a table or a global table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from brookmere.dsl.arguments.checks import how_of, lambda_of, refuse
from brookmere.dsl.arguments.late_topic import late_topic, send_late
from brookmere.dsl.arguments.windows import idle_of
from brookmere.dsl.graph.steps import ProcessorStep
from brookmere.dsl.graph.views import stores_behind
from brookmere.dsl.joins.repartition import with_its_task
from brookmere.dsl.joins.stream_stream_join import StreamJoining, join_streams
from brookmere.dsl.table import GlobalKTable, KTable
from brookmere.topology.durations import Duration, milliseconds
from brookmere.topology.function import Function, here
from brookmere.topology.nodes import Store, StoreType
from brookmere.topology.operators import GlobalJoin, How, StreamTableJoin
from brookmere.topology.windows import JoinWindows

if TYPE_CHECKING:
    from brookmere.dsl.stream import KStream

_JOIN = "KSTREAM-JOIN-"
_LEFT_JOIN = "KSTREAM-LEFTJOIN-"


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """The options of a join. Which ones it needs depends on the other side."""

    windows: JoinWindows | None = None
    key: Callable[..., Any] | None = None
    grace: Duration | None = None
    close_idle_after: Duration | None = None
    store: str | None = None
    store_type: StoreType = "auto"
    name: str | None = None
    late_to: str | None = None


def join(
    stream: KStream, other: object, joiner: Callable[..., Any], how: How, options: JoinOptions
) -> KStream:
    """Return the stream joined with `other`."""
    # Streams and their joins need each other, so one of the two modules has to import late.
    from brookmere.dsl.stream import KStream

    if not isinstance(other, KStream | KTable | GlobalKTable):
        refuse(f"join() needs a stream or a table, found {other!r}", "Pass a KStream, KTable or GlobalKTable")
    kind = type(other).__name__
    how_of(how, ("inner", "left", "outer") if isinstance(other, KStream) else ("inner", "left"), kind)
    _check_options(kind, options)
    join = lambda_of("joiner of join", joiner)
    if not stream._graph.same(other._graph, "join() got a stream or table"):
        return stream
    stream._graph.check_name("operator", options.name)
    match other:
        case KStream():
            return join_streams(
                stream,
                other,
                StreamJoining(
                    join,
                    how,
                    _windows(options),
                    _idle(how, options),
                    late_topic(stream._graph, options.late_to),
                ),
                options.store,
                options.store_type,
                options.name,
            )
        case KTable():
            return _join_table(stream, other, join, how, options)
        case GlobalKTable():
            return _join_global(stream, other, join, how, options)


_TAKEN = {
    "KStream": ("windows", "close_idle_after", "late_to", "store", "store_type", "name"),
    "KTable": ("grace", "late_to", "name"),
    "GlobalKTable": ("key", "name"),
}


def _check_options(kind: str, options: JoinOptions) -> None:
    for option in ("windows", "key", "grace", "close_idle_after", "late_to", "store", "store_type"):
        default = "auto" if option == "store_type" else None
        if getattr(options, option) != default and option not in _TAKEN[kind]:
            refuse(f"A join with a {kind} does not take {option}=", f"It takes {', '.join(_TAKEN[kind])}")


def _windows(options: JoinOptions) -> JoinWindows:
    if not isinstance(options.windows, JoinWindows):
        what = f"A join of two streams needs windows=, found {options.windows!r}"
        refuse(what, "Pass JoinWindows(...): how far apart in time the records may be")
    return options.windows


def _idle(how: How, options: JoinOptions) -> int | None:
    if how == "inner" and options.close_idle_after is not None:
        refuse("close_idle_after has no effect in an inner join, where no record waits", "Remove it")
    return idle_of(options.close_idle_after)


def _key(options: JoinOptions) -> Function:
    if options.key is None:
        what = "A join with a GlobalKTable needs key="
        refuse(what, "Pass a function of (value) or (key, value) that returns the key of the table")
    return lambda_of("key of join", options.key)


def _join_table(stream: KStream, table: KTable, joiner: Function, how: How, options: JoinOptions) -> KStream:
    graph, name = stream._graph, options.name
    stream = with_its_task(stream, name, table._key)
    sources = tuple(dict.fromkeys((*stream._sources, *table._sources)))
    graph.copartitioned.append(sources)
    node_name = graph.names.choose(name, _LEFT_JOIN if how == "left" else _JOIN)
    stores = stores_behind(table._step)
    grace_ms = None if options.grace is None else milliseconds("grace of join", options.grace)
    buffer = None
    if grace_ms is not None:
        _check_history(stream, table, stores, grace_ms)
        buffer = Store(f"{node_name}-Buffer", kind="join_buffer")
    operator = StreamTableJoin(
        table._step.name,
        how,
        joiner,
        grace_ms=grace_ms,
        buffer=None if buffer is None else buffer.name,
        drop_late=graph.corrects("table-join-late-records"),
    )
    step = ProcessorStep(
        name=node_name,
        location=here(),
        operator=operator,
        store=buffer,
        looks_into=tuple(store.name for store in stores),
        keeps_null_keys=how == "left",
    )
    graph.add(step, stream._step)
    send_late(graph, step, late_topic(graph, options.late_to), stream._key, stream._value)
    return replace(stream, _step=step, _value=None, _sources=sources)


def _check_history(stream: KStream, table: KTable, stores: tuple[Store, ...], grace_ms: int) -> None:
    if not all(store.kind == "versioned" for store in stores):
        stream._graph.fault(
            f"A join with a grace period needs a table with history; {table._step.name} has none",
            "Give the table history=, or remove grace=",
        )
        return
    kept = min(store.retention_ms or 0 for store in stores)
    if grace_ms > kept:
        stream._graph.fault(
            f"The grace period of {grace_ms} ms is longer than the history of {table._step.name}, {kept} ms",
            "Give the table a longer history=, or the join a shorter grace=",
        )


def _join_global(
    stream: KStream, table: GlobalKTable, joiner: Function, how: How, options: JoinOptions
) -> KStream:
    graph = stream._graph
    step = ProcessorStep(
        # The inner join is also called a left join, because the names of Kafka Streams are kept.
        name=graph.names.choose(options.name, _LEFT_JOIN),
        location=here(),
        operator=GlobalJoin(table._step.name, _key(options), how, joiner),
        keeps_null_keys=how == "left",
    )
    graph.add(step, stream._step)
    return replace(stream, _step=step, _value=None)

"""WindowedKStream: a grouped stream whose records are aggregated in windows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brookmere.dsl.arguments.checks import columns_of, refuse
from brookmere.dsl.arguments.late_topic import send_late
from brookmere.dsl.arguments.windows import emit_of, idle_of, merger_of, window_store, windowed_serde
from brookmere.dsl.functions.user_functions import REDUCER, STEP, Given, code_of, initial_for, serde_in
from brookmere.serde import Long, Serde
from brookmere.topology.durations import Duration
from brookmere.topology.function import function
from brookmere.topology.nodes import Store, StoreType
from brookmere.topology.operators import Code, Initial, Literal, ShortAggregate, WindowAggregate
from brookmere.topology.validation import SHORT_KINDS
from brookmere.topology.windows import Emit, SessionWindows, SlidingWindows, Windows

if TYPE_CHECKING:
    from brookmere.dsl.aggregates.grouped import KGroupedStream
    from brookmere.dsl.table import KTable

_AGGREGATE = "KSTREAM-AGGREGATE-"
_REDUCE = "KSTREAM-REDUCE-"


@dataclass(frozen=True, eq=False)
class WindowedKStream:
    """A grouped stream in windows. Aggregates are tables whose key is a struct of key, start and end.

    `retention` is how long the store keeps a window, for queries and late records; at least as long as the
    windows need.
    """

    _grouped: KGroupedStream
    _windows: Windows
    _emit: Emit = "update"
    _close_idle_ms: int | None = None
    _late_to: str | None = None

    def emit_strategy(self, emit: Emit, *, close_idle_after: Duration | None = None) -> WindowedKStream:
        """Send results on every "update", or once per window on "close".

        Windows close when later records arrive. With `close_idle_after`, stream time also advances with the
        wall clock once no record has arrived for that long.
        """
        idle = idle_of(close_idle_after)
        if idle is not None and emit != "close":
            remedy = 'Use emit="close", or suppress(..., close_idle_after=...) after the aggregate'
            refuse("close_idle_after has no effect if every update is sent", remedy)
        return replace(self, _emit=emit_of(emit, self._windows), _close_idle_ms=idle)

    def count(
        self,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        retention: Duration | None = None,
        name: str | None = None,
    ) -> KTable:
        """Count the records of each key and window."""
        if store is None and not isinstance(self._windows, SlidingWindows):
            # Kafka Streams skips one number here, which shows in the names that follow.
            self._grouped._graph.names.generate(_AGGREGATE)
        step = function("step of count", lambda agg: agg + 1)
        merger = function("merger of count", lambda agg, other: agg + other)
        kept = self._store(store, _AGGREGATE, store_type, retention)
        return self._fold(_AGGREGATE, name, kept, step, Literal(0), self._session(merger), Long())

    def reduce(
        self,
        function: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        retention: Duration | None = None,
        name: str | None = None,
    ) -> KTable:
        """Combine the values of each key and window: `function` of (aggregate, value) returns the aggregate.

        It also combines two sessions that a record joins.
        """
        step = code_of(self._grouped._graph, "function of reduce", function, REDUCER)
        kept = self._store(store, _REDUCE, store_type, retention)
        return self._fold(_REDUCE, name, kept, step, None, self._session(step), self._grouped._value)

    def aggregate(
        self,
        initial: object,
        step: Given,
        *,
        merger: Given | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        retention: Duration | None = None,
        name: str | None = None,
    ) -> KTable:
        """Fold the values of each key and window: `step` of (key, value, aggregate) or (value, aggregate).

        Session windows need a `merger` of (aggregate, other) or (key, aggregate, other), which combines two
        aggregates. It is called with the initial value and each session that a record touches, so
        `merger(initial, x)` should be x.
        """
        graph = self._grouped._graph
        folding = code_of(graph, "step of aggregate", step, STEP)
        merging = merger_of(graph, merger, self._windows)
        start = initial_for(graph, initial, folding, merging)
        kept = self._store(store, _AGGREGATE, store_type, retention)
        return self._fold(_AGGREGATE, name, kept, folding, start, merging, serde_in(folding))

    def agg(
        self,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        retention: Duration | None = None,
        name: str | None = None,
        **columns: ShortAggregate,
    ) -> KTable:
        """Compute several aggregates at once, for example `agg(n=count(), low=min("ask"))`."""
        step = columns_of(columns, SHORT_KINDS)
        kept = self._store(store, _AGGREGATE, store_type, retention)
        return self._fold(_AGGREGATE, name, kept, step, None, None, None)

    def _session(self, merger: Code) -> Code | None:
        return merger if isinstance(self._windows, SessionWindows) else None

    def _store(
        self, store: str | None, prefix: str, store_type: StoreType, retention: Duration | None
    ) -> Store:
        return window_store(self._grouped._graph, store, prefix, store_type, self._windows, retention)

    def _fold(
        self,
        prefix: str,
        name: str | None,
        store: Store,
        step: Code | tuple[ShortAggregate, ...],
        initial: Initial | None,
        merger: Code | None,
        value: Serde | None,
    ) -> KTable:
        graph = self._grouped._graph
        operator = WindowAggregate(
            store.name,
            self._windows,
            step,
            initial,
            merger,
            emit=self._emit,
            skip_nulls=graph.corrects("window-null-values"),
            emit_all=graph.corrects("window-close-jumps"),
            close_idle_ms=self._close_idle_ms,
        )
        key = windowed_serde(self._grouped._key, self._windows)
        table = self._grouped._fold(operator, graph.name(name, prefix), store, value, windowed=key)
        send_late(graph, table._step, self._late_to, self._grouped._key, self._grouped._value)
        return table

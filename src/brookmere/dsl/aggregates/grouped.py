"""KGroupedStream: a stream whose records are aggregated by key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from brookmere.dsl.aggregates.cogrouped import CogroupedKStream
from brookmere.dsl.aggregates.windowed import WindowedKStream
from brookmere.dsl.arguments.checks import columns_of, top_of
from brookmere.dsl.arguments.late_topic import late_topic
from brookmere.dsl.arguments.windows import windows_of
from brookmere.dsl.functions.user_functions import REDUCER, STEP, Given, code_of, initial_for, serde_in
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import ProcessorStep, RepartitionStep, Step, repartition_step
from brookmere.dsl.table import KTable
from brookmere.serde import Long, Serde, Windowed
from brookmere.topology.durations import Duration
from brookmere.topology.function import function, here
from brookmere.topology.nodes import Store, StoreType
from brookmere.topology.operators import Aggregate, Literal, ShortAggregate, WindowAggregate
from brookmere.topology.validation import SHORT_KINDS
from brookmere.topology.windows import Emit, Windows

_AGGREGATE = "KSTREAM-AGGREGATE-"
_REDUCE = "KSTREAM-REDUCE-"


@dataclass(eq=False)
class KGroupedStream:
    """A grouped stream. Records without a key or a value are ignored.

    Aggregates of one group share a repartition only if the group has a name, or by optimization.
    """

    _graph: Graph
    _step: Step
    _key: Serde | None
    _value: Serde | None
    _sources: tuple[str, ...]
    _rekeyed: bool
    _name: str | None
    _repartition: RepartitionStep | None = None

    def count(
        self, *, store: str | None = None, store_type: StoreType = "auto", name: str | None = None
    ) -> KTable:
        """Count the records of each key."""
        if store is None:
            # Kafka Streams skips one number here, which shows in the names that follow.
            self._graph.names.generate(_AGGREGATE)
        step = function("step of count", lambda agg: agg + 1)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        merge = function("merge of count", lambda agg, other: agg + other)
        operator = Aggregate(kept.name, step, Literal(0), merge=merge)
        return self._fold(operator, self._graph.name(name, _AGGREGATE), kept, Long())

    def reduce(
        self,
        function: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Combine the values of each key: `function` of (aggregate, value) returns the new aggregate."""
        step = code_of(self._graph, "function of reduce", function, REDUCER)
        kept = self._graph.store(store, _REDUCE, store_type)
        operator = Aggregate(kept.name, step)
        return self._fold(operator, self._graph.name(name, _REDUCE), kept, self._value)

    def aggregate(
        self,
        initial: object,
        step: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Fold the values of each key: `step` of (key, value, aggregate) or (value, aggregate).

        `initial` is a plain value, or a function without parameters that returns a Column; with a `step` of
        Python code it returns a Python value.
        """
        folding = code_of(self._graph, "step of aggregate", step, STEP)
        start = initial_for(self._graph, initial, folding)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        operator = Aggregate(kept.name, folding, start)
        return self._fold(operator, self._graph.name(name, _AGGREGATE), kept, serde_in(folding))

    def agg(
        self,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
        **columns: ShortAggregate,
    ) -> KTable:
        """Compute several aggregates at once, for example `agg(n=count(), low=min("ask"))`."""
        step = columns_of(columns, SHORT_KINDS)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        operator = Aggregate(kept.name, step)
        return self._fold(operator, self._graph.name(name, _AGGREGATE), kept, None)

    def cogroup(self, step: Given) -> CogroupedKStream:
        """Start an aggregate of several grouped streams; this one is folded by `step`."""
        return CogroupedKStream(self._graph).cogroup(self, step)

    def top_n(
        self,
        n: int,
        *,
        by: str | Callable[..., Any],
        lowest: bool = False,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Keep the `n` values of each key with the highest of `by`, a field or a function of the value.

        The result is an array with the best first; equal ones are in order of arrival. `lowest` reverses the
        order. Values whose `by` is null are ignored.
        """
        step = top_of(n, by, lowest)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        operator = Aggregate(kept.name, step)
        return self._fold(operator, self._graph.name(name, _AGGREGATE), kept, None)

    def windowed_by(
        self,
        windows: Windows,
        *,
        emit: Emit | None = None,
        close_idle_after: Duration | None = None,
        late_to: str | None = None,
    ) -> WindowedKStream:
        """Fold the records of each key into windows. `emit` is "update", the default, or "close".

        `close_idle_after` is explained at `emit_strategy`. Dropped records are sent to the topic
        `late_to`, with the reason.
        """
        windowed = WindowedKStream(self, windows_of(windows), _late_to=late_topic(self._graph, late_to))
        strategy = "update" if emit is None else emit
        return windowed.emit_strategy(strategy, close_idle_after=close_idle_after)

    def _fold(
        self,
        operator: Aggregate | WindowAggregate,
        name: str,
        store: Store,
        value: Serde | None,
        *,
        windowed: Windowed | None = None,
    ) -> KTable:
        parent, sources = self._step, self._sources
        if self._rekeyed:
            fresh = self._new_repartition(store.name)
            if self._repartition is None or self._name is None:
                self._repartition = fresh
            parent, sources = self._repartition, (self._repartition.name,)
            self._graph.add(parent, self._step)
        key = self._key if windowed is None else windowed
        kept = replace(store, key=key, value=value)
        step = ProcessorStep(name=name, location=here(), operator=operator, store=kept)
        self._graph.add(step, parent)
        queryable = store.name if store.queryable else None
        return KTable(self._graph, step, key, value, sources, queryable)

    def _new_repartition(self, store: str) -> RepartitionStep:
        names = self._graph.names.repartition(store if self._name is None else self._name)
        return repartition_step(names, here(), key=self._key, value=self._value)

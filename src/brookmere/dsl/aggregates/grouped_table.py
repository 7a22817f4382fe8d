"""KGroupedTable: a regrouped table; replaced rows are subtracted from their groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from brookmere.dsl.arguments.checks import columns_of, top_of
from brookmere.dsl.functions.user_functions import REDUCER, STEP, UNDO, Given, code_of, initial_for, serde_in
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import ProcessorStep, RepartitionStep, Step
from brookmere.dsl.table import KTable
from brookmere.serde import Long, Serde
from brookmere.topology.function import function, here
from brookmere.topology.nodes import Store, StoreType
from brookmere.topology.operators import Literal, ShortAggregate, TableAggregate
from brookmere.topology.validation import UNDOABLE_KINDS

_AGGREGATE = "KTABLE-AGGREGATE-"
_REDUCE = "KTABLE-REDUCE-"


@dataclass(eq=False)
class KGroupedTable:
    """A grouped table. An update subtracts the old value from its group and adds the new one."""

    _graph: Graph
    _step: Step
    _key: Serde | None
    _name: str | None
    _repartition: RepartitionStep | None = None

    def count(
        self, *, store: str | None = None, store_type: StoreType = "auto", name: str | None = None
    ) -> KTable:
        """Count the rows of each group."""
        adder = function("adder of count", lambda agg: agg + 1)
        subtractor = function("subtractor of count", lambda agg: agg - 1)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        operator = TableAggregate(kept.name, adder, subtractor, Literal(0))
        return self._fold(operator, _AGGREGATE, name, kept, Long())

    def reduce(
        self,
        adder: Given,
        subtractor: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Combine the values of each group; both functions take (aggregate, value)."""
        add = code_of(self._graph, "adder of reduce", adder, REDUCER)
        subtract = code_of(self._graph, "subtractor of reduce", subtractor, REDUCER)
        initial_for(self._graph, None, add, subtract)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        operator = TableAggregate(kept.name, add, subtract)
        return self._fold(operator, _REDUCE, name, kept, None)

    def aggregate(
        self,
        initial: object,
        adder: Given,
        subtractor: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Fold the values of each group; both functions take (key, value, agg) or (value, agg)."""
        add = code_of(self._graph, "adder of aggregate", adder, STEP)
        subtract = code_of(self._graph, "subtractor of aggregate", subtractor, UNDO)
        start = initial_for(self._graph, initial, add, subtract)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        operator = TableAggregate(kept.name, add, subtract, start)
        return self._fold(operator, _AGGREGATE, name, kept, serde_in(add))

    def agg(
        self,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
        **columns: ShortAggregate,
    ) -> KTable:
        """Compute several aggregates at once: count, sum and avg, which can be subtracted."""
        step = columns_of(columns, UNDOABLE_KINDS)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        operator = TableAggregate(kept.name, step, step)
        return self._fold(operator, _AGGREGATE, name, kept, None)

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

        The result is an array with the best first; equal ones are in order of their updates. `lowest`
        reverses the order. A group keeps all its rows, because the next one moves up when one is deleted.
        """
        step = top_of(n, by, lowest)
        kept = self._graph.store(store, _AGGREGATE, store_type)
        operator = TableAggregate(kept.name, step, step)
        return self._fold(operator, _AGGREGATE, name, kept, None)

    def _fold(
        self, operator: TableAggregate, prefix: str, name: str | None, store: Store, value: Serde | None
    ) -> KTable:
        repartition = self._repartitioned(name, store)
        node_name = self._graph.name(name, prefix)
        self._graph.add(repartition, self._step)
        kept = replace(store, key=self._key, value=value)
        step = ProcessorStep(name=node_name, location=here(), operator=operator, store=kept)
        self._graph.add(step, repartition)
        queryable = store.name if store.queryable else None
        return KTable(self._graph, step, self._key, value, (repartition.name,), queryable)

    def _repartitioned(self, name: str | None, store: Store) -> RepartitionStep:
        sink = self._graph.names.choose(name, "KSTREAM-SINK-", "-sink")
        source = self._graph.names.choose(name, "KSTREAM-SOURCE-", "-source")
        if self._repartition is None or self._name is None:
            self._repartition = RepartitionStep(
                name=source,
                location=here(),
                topic=f"{store.name if self._name is None else self._name}-repartition",
                filter_name="",
                sink_name=sink,
                key=self._key,
                value=None,
                optimizable=False,
                filtered=False,
            )
        return self._repartition

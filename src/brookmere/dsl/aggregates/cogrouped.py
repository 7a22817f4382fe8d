"""CogroupedKStream: several grouped streams that are aggregated into one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from brookmere.dsl.aggregates.windowed_cogrouped import AGGREGATE, WindowedCogroupedKStream
from brookmere.dsl.arguments.late_topic import late_topic, send_late
from brookmere.dsl.arguments.windows import windows_of
from brookmere.dsl.functions.user_functions import STEP, Given, code_of, initial_for, serde_in
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import ProcessorStep, Step
from brookmere.dsl.table import KTable
from brookmere.serde import Serde
from brookmere.topology.function import here
from brookmere.topology.nodes import Store, StoreType
from brookmere.topology.operators import Aggregate, Code, PassThrough, WindowAggregate
from brookmere.topology.windows import Windows

if TYPE_CHECKING:
    from brookmere.dsl.aggregates.grouped import KGroupedStream

_MERGE = "COGROUPKSTREAM-MERGE-"


@dataclass(eq=False)
class CogroupedKStream:
    """Grouped streams, each with the function that folds it into the common aggregate.

    Groups that must be repartitioned need distinct names, because the repartition topics
    are named after the group, or else after the common store.
    """

    _graph: Graph
    _steps: dict[KGroupedStream, Code] = field(default_factory=dict)
    _parents: dict[KGroupedStream, Step] = field(default_factory=dict)

    def cogroup(self, grouped: KGroupedStream, step: Given) -> CogroupedKStream:
        """Add a grouped stream that is folded by `step` of (key, value, aggregate) or (value, aggregate)."""
        folding = code_of(self._graph, "step of cogroup", step, STEP)
        if grouped._graph is self._graph:
            self._steps[grouped] = folding
        else:
            self._graph.fault("cogroup() got a group of another StreamsBuilder", "Use one builder for both")
        return self

    def aggregate(
        self,
        initial: object,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Fold the values of each key over all streams, in order of arrival."""
        start = initial_for(self._graph, initial, *self._steps.values())
        kept = replace(self._graph.store(store, AGGREGATE, store_type), key=self._common_key())
        kept = replace(kept, value=self._common_value())
        table = self._fold(lambda step: Aggregate(kept.name, step, start), kept, name)
        return replace(table, _key=self._common_key(), _value=kept.value)

    def windowed_by(self, windows: Windows, *, late_to: str | None = None) -> WindowedCogroupedKStream:
        """Fold the records of each key into windows. Every update is sent.

        Dropped records are sent to the topic `late_to`, with the reason.
        """
        return WindowedCogroupedKStream(self, windows_of(windows), late_topic(self._graph, late_to))

    def _fold(
        self,
        operator: Callable[[Code], Aggregate | WindowAggregate],
        store: Store,
        name: str | None,
        late_to: str | None = None,
    ) -> KTable:
        self._graph.check_name("operator", name)
        self._repartition(store.name)
        folds: list[ProcessorStep] = []
        for number, (grouped, folding) in enumerate(self._steps.items()):
            fold_name = self._graph.names.choose(name, AGGREGATE, f"-cogroup-agg-{number}")
            fold = ProcessorStep(name=fold_name, location=here(), operator=operator(folding), store=store)
            self._graph.add(fold, self._parents[grouped])
            send_late(self._graph, fold, late_to, grouped._key, grouped._value)
            folds.append(fold)
        merge_name = self._graph.names.choose(name, _MERGE, "-cogroup-merge")
        merge = ProcessorStep(name=merge_name, location=here(), operator=PassThrough())
        self._graph.add(merge, *folds)
        queryable = store.name if store.queryable else None
        return KTable(self._graph, merge, None, None, self._sources(), queryable)

    def _common_key(self) -> Serde | None:
        keys = {grouped._key for grouped in self._steps}
        return keys.pop() if len(keys) == 1 else None

    def _common_value(self) -> Serde | None:
        values = {serde_in(step) for step in self._steps.values()}
        return values.pop() if len(values) == 1 else None

    def _repartition(self, store: str) -> None:
        for grouped in self._steps:
            if not grouped._rekeyed:
                self._parents[grouped] = grouped._step
                continue
            fresh = grouped._new_repartition(store)
            if grouped not in self._parents:
                self._graph.add(fresh, grouped._step)
                self._parents[grouped] = fresh
        self._graph.copartitioned.append(self._sources())

    def _sources(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for grouped in self._steps:
            sources = (self._parents[grouped].name,) if grouped._rekeyed else grouped._sources
            found.update(dict.fromkeys(sources))
        return tuple(found)

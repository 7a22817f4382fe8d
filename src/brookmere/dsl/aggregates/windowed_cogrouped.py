"""WindowedCogroupedKStream: several grouped streams that are aggregated into one windowed table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brookmere.dsl.arguments.windows import merger_of, window_store, windowed_serde
from brookmere.dsl.functions.user_functions import Given, initial_for
from brookmere.topology.durations import Duration
from brookmere.topology.nodes import StoreType
from brookmere.topology.operators import Code, WindowAggregate
from brookmere.topology.windows import Windows

if TYPE_CHECKING:
    from brookmere.dsl.aggregates.cogrouped import CogroupedKStream
    from brookmere.dsl.table import KTable

AGGREGATE = "COGROUPKSTREAM-AGGREGATE-"


@dataclass(frozen=True, eq=False)
class WindowedCogroupedKStream:
    """Grouped streams in common windows, each with its own fold."""

    _cogrouped: CogroupedKStream
    _windows: Windows
    _late_to: str | None = None

    def aggregate(
        self,
        initial: object,
        *,
        merger: Given | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        retention: Duration | None = None,
        name: str | None = None,
    ) -> KTable:
        """Fold the values of each key and window over all streams, in order of arrival.

        Session windows need a `merger` of (aggregate, other) or (key, aggregate, other).
        """
        graph = self._cogrouped._graph
        merging = merger_of(graph, merger, self._windows)
        start = initial_for(graph, initial, *self._cogrouped._steps.values(), merging)
        key = windowed_serde(self._cogrouped._common_key(), self._windows)
        kept = window_store(graph, store, AGGREGATE, store_type, self._windows, retention)
        kept = replace(kept, key=key, value=self._cogrouped._common_value())

        def operator(step: Code) -> WindowAggregate:
            skip = graph.corrects("window-null-values")
            return WindowAggregate(kept.name, self._windows, step, start, merging, skip_nulls=skip)

        table = self._cogrouped._fold(operator, kept, name, self._late_to)
        return replace(table, _key=key, _value=kept.value)

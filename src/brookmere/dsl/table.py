"""KTable and GlobalKTable: the latest value of each key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from brookmere.dsl.aggregates.suppressed import Suppressed, suppress
from brookmere.dsl.arguments.checks import serde_of
from brookmere.dsl.functions.user_functions import TABLE_ONE, TABLE_PAIR, TABLE_TEST, Given, code_of, serde_in
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.old_values import send_old_values
from brookmere.dsl.graph.steps import ProcessorStep, Step
from brookmere.dsl.graph.views import is_versioned
from brookmere.dsl.joins.table_joins import join
from brookmere.serde import Serde
from brookmere.topology.durations import Duration
from brookmere.topology.function import here
from brookmere.topology.nodes import Store, StoreType
from brookmere.topology.operators import How, Operator, TableFilter, TableGroup, TableMapValues, TableToStream

if TYPE_CHECKING:
    from brookmere.dsl.aggregates.grouped_table import KGroupedTable
    from brookmere.dsl.stream import KStream


@dataclass(frozen=True, eq=False)
class GlobalKTable:
    """A table whose rows are all visible to every task."""

    _graph: Graph
    _step: Step
    _store: str

    @property
    def queryable_store_name(self) -> str:
        """The name under which the table can be queried."""
        return self._store


@dataclass(frozen=True, eq=False)
class KTable:
    """A table: a stream of updates that each replace the value of their key. Null deletes it.

    With `store=` the result is kept in a store of that name, which can be queried.
    """

    _graph: Graph
    _step: Step
    _key: Serde | None
    _value: Serde | None
    _sources: tuple[str, ...]
    _store: str | None

    @property
    def queryable_store_name(self) -> str | None:
        """The name under which the table can be queried; None if it has no named store."""
        return self._store

    def filter(
        self,
        predicate: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Keep the rows for which `predicate` is true; other updates delete their row."""
        return self._filter("filter", predicate, store, store_type, name, negate=False)

    def filter_not(
        self,
        predicate: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Keep the rows for which `predicate` is false; other updates delete their row."""
        return self._filter("filter_not", predicate, store, store_type, name, negate=True)

    def map_values(
        self,
        function: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Compute each row's value from (value) or (key, value). Deletions pass through unchanged."""
        code = code_of(self._graph, "function of map_values", function, TABLE_ONE)
        value = serde_in(code)
        step = self._add("KTABLE-MAPVALUES-", TableMapValues(code, store), name, store, store_type, value)
        return replace(self, _step=step, _value=value, _store=store)

    def transform_values(
        self,
        function: Given,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Compute each row's value as `map_values` does, but call `function` for deletions as well."""
        code = code_of(self._graph, "function of transform_values", function, TABLE_ONE)
        operator, value = TableMapValues(code, store, sees_null=True), serde_in(code)
        step = self._add("KTABLE-TRANSFORMVALUES-", operator, name, store, store_type, value)
        return replace(self, _step=step, _value=value, _store=store)

    def to_stream(self, key: Given | None = None, *, name: str | None = None) -> KStream:
        """Read the updates, including deletions, as a stream; with the key that `key` returns, if given."""
        # Streams and tables create each other, so one of the two modules has to import late.
        from brookmere.dsl.stream import KStream

        step = self._add("KTABLE-TOSTREAM-", TableToStream(), name)
        stream = KStream(self._graph, step, self._key, self._value, self._sources)
        return stream if key is None else stream.select_key(key)

    def group_by(
        self, function: Given, *, name: str | None = None, key: Serde | None = None
    ) -> KGroupedTable:
        """Regroup the rows: `function` of (key, value) returns the pair (group key, value)."""
        from brookmere.dsl.aggregates.grouped_table import KGroupedTable

        code = code_of(self._graph, "function of group_by", function, TABLE_PAIR)
        step = self._add("KTABLE-SELECT-", TableGroup(code, versioned=self._versioned), name)
        send_old_values(self._step, force=True)
        return KGroupedTable(self._graph, step, serde_of("key", key) or serde_in(code, 0), name)

    def suppress(
        self,
        until: Suppressed,
        *,
        close_idle_after: Duration | None = None,
        name: str | None = None,
    ) -> KTable:
        """Hold updates back: `until_window_closes()`, or `until_time_limit(duration)`.

        A row that is updated while it is held back is sent once, with its latest value. Rows are sent when
        later updates arrive; with `close_idle_after`, stream time also advances with the wall clock once no
        update has arrived for that long.
        """
        step = suppress(self._graph, self._step, until, close_idle_after, name)
        return replace(self, _step=step, _store=None)

    def join(
        self,
        other: KTable,
        joiner: Callable[..., Any],
        *,
        how: How = "inner",
        foreign_key: Callable[..., Any] | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Join the rows of two tables with the same key: `joiner` of (left, right) or (key, left, right).

        `how` is "inner", "left" or "outer". With `foreign_key` of (value) or (key, value) the left row names
        the key of the right one; such a join is "inner" or "left".
        """
        return join(self, other, joiner, how, foreign_key, store, store_type, name)

    def left_join(
        self,
        other: KTable,
        joiner: Callable[..., Any],
        *,
        foreign_key: Callable[..., Any] | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Join as `join` does; a left row without a match has a result with null for the right side."""
        return join(self, other, joiner, "left", foreign_key, store, store_type, name)

    def outer_join(
        self,
        other: KTable,
        joiner: Callable[..., Any],
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KTable:
        """Join as `join` does; an unmatched row of either table has a result with null for the other side."""
        return join(self, other, joiner, "outer", None, store, store_type, name)

    @property
    def _versioned(self) -> bool:
        """Whether the updates come from a table with history."""
        return is_versioned(self._step)

    def _filter(
        self,
        call: str,
        predicate: Given,
        store: str | None,
        store_type: StoreType,
        name: str | None,
        *,
        negate: bool,
    ) -> KTable:
        test = code_of(self._graph, f"predicate of {call}", predicate, TABLE_TEST)
        old = send_old_values(self._step, force=False)
        operator = TableFilter(test, negate, store, send_old=old, versioned=self._versioned)
        step = self._add("KTABLE-FILTER-", operator, name, store, store_type, self._value)
        return replace(self, _step=step, _store=store)

    def _add(
        self,
        prefix: str,
        operator: Operator,
        name: str | None,
        store: str | None = None,
        store_type: StoreType = "auto",
        value: Serde | None = None,
    ) -> ProcessorStep:
        kept: Store | None = None
        if store is not None:
            kept = replace(self._graph.store(store, prefix, store_type), key=self._key, value=value)
        node_name = self._graph.name(name, prefix)
        step = ProcessorStep(name=node_name, location=here(), operator=operator, store=kept)
        self._graph.add(step, self._step)
        return step

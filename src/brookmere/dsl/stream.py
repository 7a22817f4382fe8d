"""KStream: a stream of independent records."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from brookmere.dsl.aggregates.grouped import KGroupedStream
from brookmere.dsl.arguments.checks import action_of, lambda_of, partitions_of, refuse, serde_of
from brookmere.dsl.arguments.table_store import table_store
from brookmere.dsl.arguments.windows import merged_key, sink_key_of
from brookmere.dsl.branched import BranchedKStream
from brookmere.dsl.dedupe import dedupe
from brookmere.dsl.functions.user_functions import MANY, ONE, PAIR, PAIRS, TEST, Given, code_of, serde_in
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import ProcessorStep, SinkStep, Step, repartition_step
from brookmere.dsl.joins.stream_joins import JoinOptions, join
from brookmere.dsl.processors.process import ProcessStep, Supplier, process_step
from brookmere.dsl.table import GlobalKTable, KTable
from brookmere.serde import Serde
from brookmere.topology.durations import Duration
from brookmere.topology.function import here
from brookmere.topology.nodes import StoreType
from brookmere.topology.operators import (
    Branch,
    Filter,
    FlatMap,
    FlatMapValues,
    How,
    Map,
    MapValues,
    Operator,
    PassThrough,
    SelectKey,
    Tap,
)
from brookmere.topology.windows import JoinWindows


@dataclass(frozen=True, eq=False)
class KStream:
    """A stream of records. Each method adds one operator and returns a new handle.

    Functions receive Spark Columns, (value) or (key, value), and return Columns. Those of map, map_values,
    flat_map, flat_map_values, filter, filter_not, select_key, group_by and of branches can be Python code
    instead: `brookmere.python`.
    """

    _graph: Graph
    _step: Step
    _key: Serde | None
    _value: Serde | None
    _sources: tuple[str, ...]
    _rekeyed: bool = False

    def filter(self, predicate: Given, *, name: str | None = None) -> KStream:
        """Keep the records for which `predicate` is true."""
        operator = Filter(code_of(self._graph, "predicate of filter", predicate, TEST))
        return replace(self, _step=self._add("KSTREAM-FILTER-", operator, name))

    def filter_not(self, predicate: Given, *, name: str | None = None) -> KStream:
        """Drop the records for which `predicate` is true."""
        operator = Filter(code_of(self._graph, "predicate of filter_not", predicate, TEST), negate=True)
        return replace(self, _step=self._add("KSTREAM-FILTER-", operator, name))

    def map(self, function: Given, *, name: str | None = None) -> KStream:
        """Replace key and value by the pair that `function` returns."""
        code = code_of(self._graph, "function of map", function, PAIR)
        step = self._add("KSTREAM-MAP-", Map(code), name, key_changing=True)
        return replace(self, _step=step, _key=serde_in(code, 0), _value=serde_in(code, 1), _rekeyed=True)

    def map_values(self, function: Given, *, name: str | None = None) -> KStream:
        """Replace the value; the key, and therefore the task, stays the same."""
        code = code_of(self._graph, "function of map_values", function, ONE)
        step = self._add("KSTREAM-MAPVALUES-", MapValues(code), name, value_changing=True)
        return replace(self, _step=step, _value=serde_in(code))

    def flat_map(self, function: Given, *, name: str | None = None) -> KStream:
        """Replace a record by any number: `function` returns an array of structs with key and value.

        A Python function returns an iterable of (key, value) pairs.
        """
        code = code_of(self._graph, "function of flat_map", function, PAIRS)
        step = self._add("KSTREAM-FLATMAP-", FlatMap(code), name, key_changing=True)
        return replace(self, _step=step, _key=serde_in(code, 0), _value=serde_in(code, 1), _rekeyed=True)

    def flat_map_values(self, function: Given, *, name: str | None = None) -> KStream:
        """Replace a record by any number of records with its key: `function` returns an array of values."""
        code = code_of(self._graph, "function of flat_map_values", function, MANY)
        step = self._add("KSTREAM-FLATMAPVALUES-", FlatMapValues(code), name, value_changing=True)
        return replace(self, _step=step, _value=serde_in(code))

    def select_key(self, function: Given, *, name: str | None = None) -> KStream:
        """Replace the key. A later operator that needs equal keys in one task repartitions automatically."""
        code = code_of(self._graph, "function of select_key", function, ONE)
        step = self._add("KSTREAM-KEY-SELECT-", SelectKey(code), name, key_changing=True)
        return replace(self, _step=step, _key=serde_in(code), _rekeyed=True)

    def peek(self, action: Callable[[Any, Any], object], *, name: str | None = None) -> KStream:
        """Call `action` on the driver for each record, with Python values, and pass the record on."""
        operator = Tap(action_of("action of peek", action))
        return replace(self, _step=self._add("KSTREAM-PEEK-", operator, name))

    def foreach(self, action: Callable[[Any, Any], object], *, name: str | None = None) -> None:
        """Call `action` on the driver for each record, with Python values. The stream ends here."""
        operator = Tap(action_of("action of foreach", action), terminal=True)
        self._add("KSTREAM-FOREACH-", operator, name)

    def print(self, label: str | None = None, *, name: str | None = None) -> None:
        """Print each record on the driver, after `label`. The stream ends here."""
        operator = Tap(_Printer(label or self._step.name), terminal=True)
        self._add("KSTREAM-PRINTER-", operator, name)

    def merge(self, *others: KStream, name: str | None = None) -> KStream:
        """Merge several streams into one. The order between them is not guaranteed."""
        if not others or not all(isinstance(other, KStream) for other in others):
            refuse(f"merge() needs streams, found {others!r}", "Pass one or several KStreams")
        merged = [self, *(other for other in others if self._same_builder(other))]
        step = self._node("KSTREAM-MERGE-", PassThrough(), name)
        step.merging = True
        self._graph.add(step, *(stream._step for stream in merged))
        return replace(
            self,
            _step=step,
            _key=merged_key([stream._key for stream in merged]),
            _value=self._value if all(stream._value == self._value for stream in merged) else None,
            _sources=tuple(dict.fromkeys(source for stream in merged for source in stream._sources)),
            _rekeyed=any(stream._rekeyed for stream in merged),
        )

    def join(
        self,
        other: KStream | KTable | GlobalKTable,
        joiner: Callable[..., Any],
        *,
        how: How = "inner",
        windows: JoinWindows | None = None,
        key: Callable[..., Any] | None = None,
        grace: Duration | None = None,
        close_idle_after: Duration | None = None,
        late_to: str | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KStream:
        """Join with a stream, a table or a global table: `joiner` of (left, right) or (key, left, right).

        `how` is "inner", "left" or, with a stream, "outer". A join with a stream needs `windows`, and stores
        the records of both sides in stores named after `store`; with `close_idle_after`, unmatched records
        are also sent once no record has arrived for that long. A join with a table that has history can have
        a `grace` period, for which records wait. A global table needs `key` of (value) or (key, value).

        Records that a join with a stream or a table drops are sent to the topic `late_to`, with the reason.
        """
        options = JoinOptions(windows, key, grace, close_idle_after, store, store_type, name, late_to)
        return join(self, other, joiner, how, options)

    def left_join(
        self,
        other: KStream | KTable | GlobalKTable,
        joiner: Callable[..., Any],
        *,
        windows: JoinWindows | None = None,
        key: Callable[..., Any] | None = None,
        grace: Duration | None = None,
        close_idle_after: Duration | None = None,
        late_to: str | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KStream:
        """Join as `join` does; an unmatched record has a result with null for the right side."""
        options = JoinOptions(windows, key, grace, close_idle_after, store, store_type, name, late_to)
        return join(self, other, joiner, "left", options)

    def outer_join(
        self,
        other: KStream,
        joiner: Callable[..., Any],
        *,
        windows: JoinWindows,
        close_idle_after: Duration | None = None,
        late_to: str | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KStream:
        """Join two streams; an unmatched record of either has a result with null for the other side."""
        options = JoinOptions(windows, None, None, close_idle_after, store, store_type, name, late_to)
        return join(self, other, joiner, "outer", options)

    def dedupe(
        self,
        within: Duration,
        *,
        by: str | Callable[..., Any] | None = None,
        late_to: str | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        name: str | None = None,
    ) -> KStream:
        """Keep the first record of each key within `within` of event time, and drop the others.

        With `by`, a field of the value or a function of (value) or (key, value), records are duplicates if
        they are in the same task and have the same `by`. A record that is `within` or more behind stream time
        can no longer be compared with earlier ones: it is dropped, and sent to the topic `late_to`.
        """
        return dedupe(self, within, by, late_to, store, store_type, name)

    def process(
        self,
        supplier: Supplier,
        *,
        stores: object = (),
        key: object | None = None,
        value: object | None = None,
        name: str | None = None,
    ) -> KStream:
        """Process each record with a `Processor`; `supplier`, a class or a function, creates one per task.

        `stores` are names of stores, or builders such as `key_value_store(...)`. `key` and `value` are the
        types of the records the processor forwards, as for `returns` of `python`; by default they do not
        change. Keys may change, so a later operator that needs equal keys in one task repartitions.
        """
        step = self._process(supplier, name, False, stores, key, value)
        return replace(
            self,
            _step=step,
            _key=self._key if key is None else key if isinstance(key, Serde) else None,
            _value=self._value if value is None else value if isinstance(value, Serde) else None,
            _rekeyed=True,
        )

    def process_values(
        self,
        supplier: Supplier,
        *,
        stores: object = (),
        value: object | None = None,
        name: str | None = None,
    ) -> KStream:
        """Process each record with a `FixedKeyProcessor`, as `process` does; the key stays the same."""
        step = self._process(supplier, name, True, stores, None, value)
        kept = self._value if value is None else value if isinstance(value, Serde) else None
        return replace(self, _step=step, _value=kept)

    def split(self, *, name: str | None = None) -> BranchedKStream:
        """Split the stream: each record goes to the first branch whose predicate accepts it."""
        step = self._add("KSTREAM-BRANCH-", Branch((), ()), name)
        return BranchedKStream(self, step)

    def repartition(
        self, name: str | None = None, *, partitions: int | None = None, key: Serde | None = None
    ) -> KStream:
        """Send each record to the task of its key, in `partitions` partitions if given."""
        self._graph.check_name("repartition", name)
        prefix = self._graph.names.generate("KSTREAM-REPARTITION-") if name is None else name
        serde = serde_of("key", key) or self._key
        step = repartition_step(
            self._graph.names.repartition(prefix),
            here(),
            key=serde,
            value=self._value,
            partitions=partitions_of(partitions),
            optimizable=False,
        )
        self._graph.add(step, self._step)
        return replace(self, _step=step, _key=serde, _sources=(step.name,), _rekeyed=False)

    def to(
        self,
        topic: str | Callable[..., Any],
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        name: str | None = None,
        router_name: str | None = None,
    ) -> None:
        """Write to a topic, or to the topic that a function of key and value names for each record."""
        if isinstance(topic, str):
            self._graph.check_name("topic", topic)
        step = SinkStep(
            name=self._graph.name(name, "KSTREAM-SINK-"),
            location=here(),
            topic=topic if isinstance(topic, str) else lambda_of("topic of to", topic),
            key=sink_key_of(serde_of("key", key), self._key),
            value=serde_of("value", value) or self._value,
            router_name=router_name,
        )
        self._graph.add(step, self._step)

    def to_table(
        self,
        *,
        store: str | None = None,
        store_type: StoreType = "auto",
        history: Duration | None = None,
        ttl: Duration | None = None,
        name: str | None = None,
    ) -> KTable:
        """Read the stream as a table: each record replaces the value of its key, and null deletes it.

        With `history`, the table keeps earlier versions of its rows, that far back from the latest record.
        With `ttl`, a row that was not updated for that long in stream time is deleted.
        """
        node_name = self._graph.name(name, "KSTREAM-TOTABLE-")
        kept = replace(
            self._graph.store(store, "KSTREAM-TOTABLE-", store_type), key=self._key, value=self._value
        )
        kept, operator = table_store(kept, history, ttl)
        parent, sources = self._step, self._sources
        if self._rekeyed:
            names = self._graph.names.repartition(node_name)
            parent = repartition_step(names, here(), key=self._key, value=self._value)
            self._graph.add(parent, self._step)
            sources = (parent.name,)
        step = ProcessorStep(name=node_name, location=here(), operator=operator, store=kept)
        self._graph.add(step, parent)
        return KTable(self._graph, step, self._key, self._value, sources, store)

    def group_by_key(self, *, name: str | None = None, key: Serde | None = None) -> KGroupedStream:
        """Group by the current key."""
        self._graph.check_name("group", name)
        serde = serde_of("key", key) or self._key
        return KGroupedStream(self._graph, self._step, serde, self._value, self._sources, self._rekeyed, name)

    def group_by(
        self, function: Given, *, name: str | None = None, key: Serde | None = None
    ) -> KGroupedStream:
        """Group by the key that `function` returns."""
        code = code_of(self._graph, "function of group_by", function, ONE)
        step = self._add("KSTREAM-KEY-SELECT-", SelectKey(code), name, key_changing=True)
        serde = serde_of("key", key) or serde_in(code)
        return KGroupedStream(self._graph, step, serde, self._value, self._sources, True, name)

    def _process(
        self,
        supplier: Supplier,
        name: str | None,
        fixed_key: bool,
        stores: object,
        key: object | None,
        value: object | None,
    ) -> ProcessStep:
        self._graph.check_name("operator", name)
        prefix = "KSTREAM-PROCESSVALUES-" if fixed_key else "KSTREAM-PROCESSOR-"
        # Unlike other operators, a named processor uses no number in Kafka Streams.
        node_name = self._graph.names.generate(prefix) if name is None else name
        step = process_step(
            self._graph, node_name, supplier, fixed_key=fixed_key, stores=stores, key=key, value=value
        )
        self._graph.add(step, self._step)
        return step

    def _add(
        self,
        prefix: str,
        operator: Operator,
        name: str | None,
        *,
        key_changing: bool = False,
        value_changing: bool = False,
    ) -> ProcessorStep:
        step = self._node(prefix, operator, name)
        step.key_changing, step.value_changing = key_changing, value_changing
        self._graph.add(step, self._step)
        return step

    def _node(self, prefix: str, operator: Operator, name: str | None) -> ProcessorStep:
        return ProcessorStep(name=self._graph.name(name, prefix), location=here(), operator=operator)

    def _same_builder(self, other: KStream) -> bool:
        if other._graph is not self._graph:
            self._graph.fault("merge() got a stream of another StreamsBuilder", "Use one builder for both")
        return other._graph is self._graph


@dataclass(frozen=True)
class _Printer:
    label: str

    def __call__(self, key: Any, value: Any) -> None:
        sys.stdout.write(f"[{self.label}]: {key}, {value}\n")

"""Turns the operators of processors into calls of the kernel's program builder."""

# ruff: noqa: ARG002 - all operators are added by methods of one form

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql.types import DataType, _parse_datatype_json_string

from brookmere.errors import ExpressionError, Fault, UnsupportedError
from brookmere.plan.stages import Plan
from brookmere.run.compile.aggregates import Step, initial_column, java_column, step_column
from brookmere.run.compile.joins import JOINING
from brookmere.run.compile.short_aggregates import Folded, TypeOf, fold
from brookmere.run.compile.time import TIMING, close_idle_ms, expiring_table
from brookmere.run.compile.top_n import top
from brookmere.run.compile.windows import WINDOWING
from brookmere.run.expressions.columns import RECORD, REDUCER, column, pair
from brookmere.run.expressions.faults import about, explained, leaves_type_open
from brookmere.run.wire.wire import Wire
from brookmere.topology import operators as op
from brookmere.topology.function import Function
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import PythonFunction

At = tuple[int, str, int, list[int]]
"""What every node is added with: its number, name, stage and the numbers of its parents."""

_FOLDS = op.Aggregate | op.WindowAggregate


@dataclass(frozen=True, slots=True)
class _Combined:
    """What an aggregate is made of whose records arrive folded."""

    merge: Column
    kept: str
    result: Column | None


@dataclass(slots=True)
class Processors:
    """Adds processors to the program that `builder` builds."""

    plan: Plan
    builder: Any
    wire: Wire
    numbers: Mapping[str, int]
    store_type: str
    _kept_types: dict[str, str] = field(default_factory=dict)
    _combined: dict[str, _Combined] = field(default_factory=dict)

    def add(self, node: ProcessorNode, at: At) -> None:
        """Add a processor."""
        add = _ADD.get(type(node.operator))
        if add is None:
            raise UnsupportedError(f"{type(node.operator).__name__}, node {node.name}, cannot be run yet")
        add(self, node, node.operator, at)
        idle = close_idle_ms(node.operator)
        if idle is not None:
            self.builder.closeIdle(at[0], idle)

    def _filter(self, node: ProcessorNode, o: op.Filter, at: At) -> None:
        with about(o.predicate, node.name, None):
            self.builder.filter(*at, column(o.predicate, RECORD)._jc, o.negate)

    def _map(self, node: ProcessorNode, o: op.Map, at: At) -> None:
        with about(o.function, node.name, None):
            key, value = pair(o.function, RECORD)
            self.builder.project(*at, key._jc, value._jc)

    def _map_values(self, node: ProcessorNode, o: op.MapValues, at: At) -> None:
        with about(o.function, node.name, None):
            self.builder.project(*at, None, column(o.function, RECORD)._jc)

    def _select_key(self, node: ProcessorNode, o: op.SelectKey, at: At) -> None:
        with about(o.function, node.name, None):
            self.builder.project(*at, column(o.function, RECORD)._jc, None)

    def _flat_map(self, node: ProcessorNode, o: op.FlatMap, at: At) -> None:
        with about(o.function, node.name, None):
            self.builder.flatMap(*at, column(o.function, RECORD)._jc)

    def _flat_map_values(self, node: ProcessorNode, o: op.FlatMapValues, at: At) -> None:
        with about(o.function, node.name, None):
            self.builder.flatMapValues(*at, column(o.function, RECORD)._jc)

    def _branch(self, node: ProcessorNode, o: op.Branch, at: At) -> None:
        self.builder.branch(*at, o.default is not None)
        faults: list[Fault] = []
        for predicate in o.predicates:
            try:
                with about(predicate, node.name, None):
                    self.builder.branchTest(at[0], column(predicate, RECORD)._jc)
            except ExpressionError as error:
                faults += error.faults
        if faults:
            raise ExpressionError(faults)

    def _tap(self, node: ProcessorNode, o: op.Tap, at: At) -> None:
        self.builder.tap(*at)

    def _pass(self, node: ProcessorNode, o: op.PassThrough, at: At) -> None:
        with explained(f"node {node.name}", str(node.location) if node.location else None):
            self.builder.passThrough(*at)

    def _key_not_null(self, node: ProcessorNode, o: op.KeyNotNull, at: At) -> None:
        self.builder.keyNotNull(*at)

    def _to_stream(self, node: ProcessorNode, o: op.TableToStream, at: At) -> None:
        self.builder.tableToStream(*at)

    def _table_source(self, node: ProcessorNode, o: op.TableSource, at: At) -> None:
        if o.ttl_ms is not None:
            expiring_table(self, node, o, at)
        elif o.store is None or not o.versioned:
            self.builder.tableSource(*at, o.store, self.kind(o.store), o.send_old)
        else:
            history = self.plan.topology.store(o.store).retention_ms
            self.builder.versionedSource(*at, o.store, self.kind(o.store), history, o.send_old)

    def _table_filter(self, node: ProcessorNode, o: op.TableFilter, at: At) -> None:
        with about(o.predicate, node.name, None):
            test = column(o.predicate, RECORD)._jc
            self.builder.tableFilter(
                *at, test, o.negate, o.store, self.kind(o.store), o.send_old, o.versioned
            )

    def _table_map_values(self, node: ProcessorNode, o: op.TableMapValues, at: At) -> None:
        with about(o.function, node.name, None):
            mapped = column(o.function, RECORD)._jc
            kind = self.kind(o.store)
            self.builder.tableMapValues(*at, mapped, o.store, kind, o.send_old, o.sees_null)

    def _table_group(self, node: ProcessorNode, o: op.TableGroup, at: At) -> None:
        with about(o.function, node.name, None):
            key, value = pair(o.function, RECORD)
            self.builder.tableGroup(*at, key._jc, value._jc, o.versioned)

    def _aggregate(self, node: ProcessorNode, o: op.Aggregate, at: At) -> None:
        combined = self._combined.get(node.name)
        if combined is not None:
            # What arrives are folds already: the first one is the aggregate, the others are merged into it.
            initial, step, result = None, combined.merge, combined.result
        else:
            folded = self.folded(o.step, node, self.numbers[node.parents[0]])
            initial = folded.initial if folded else initial_column(o.initial)
            step = folded.add if folded else step_column(o.step, o.initial)
            result = folded.result if folded else None
        with about(o.step, node.name, str(node.location)):
            kept = combined.kept if combined else self.kept_type(o.store, initial)
            self.builder.aggregate(
                *at, o.store, self.kind(o.store), java_column(initial), step._jc, kept, java_column(result),
                o.send_old, combined is not None,
            )  # fmt: skip

    def combine(self, node: ProcessorNode, at: At) -> At:
        """Fold the records for the aggregate `node` in front of the node at `at`, if that changes no result.

        Returns where that node stands now: behind the fold.
        """
        o = node.operator
        parent = at[3][0]
        if not isinstance(o, op.Aggregate):
            return at
        folded = self.folded(o.step, node, parent)
        merge = folded.merge if folded else column(o.merge, REDUCER) if o.merge else None
        if merge is None:
            return at
        initial = folded.initial if folded else initial_column(o.initial)
        step = folded.add if folded else step_column(o.step, o.initial)
        number = len(self.numbers) + len(self._combined)
        with about(o.step, node.name, str(node.location)):
            kept = self.builder.aggregateType(java_column(initial), [parent], [step._jc])
            of = self.numbers[node.name]
            self.builder.combine(number, of, node.name, 0, [parent], java_column(initial), step._jc, kept)
        self._combined[node.name] = _Combined(merge, kept, folded.result if folded else None)
        return (*at[:3], [number])

    def _table_aggregate(self, node: ProcessorNode, o: op.TableAggregate, at: At) -> None:
        folded = self.folded(o.adder, node, self.numbers[node.parents[0]])
        initial = folded.initial if folded else initial_column(o.initial)
        add = folded.add if folded else step_column(o.adder, o.initial)
        subtract = folded.subtract if folded else step_column(o.subtractor, o.initial)
        result = folded.result if folded else None
        with about(o.adder, node.name, str(node.location)):
            self.builder.aggregateType(java_column(initial), at[3], [add._jc])
        # The adder is right, so what goes wrong now is the subtractor's.
        with about(o.subtractor, node.name, str(node.location)):
            steps = [add._jc, java_column(subtract)]
            kept = self.builder.aggregateType(java_column(initial), at[3] * 2, steps)
            self.builder.tableAggregate(
                *at,
                o.store,
                self.kind(o.store),
                java_column(initial),
                *steps,
                kept,
                java_column(result),
                o.send_old,
            )

    def kept_type(self, store: str, initial: Column | None) -> str:
        """Return the type that a store keeps: all aggregates that share it have a say."""
        if store not in self._kept_types:
            nodes: list[ProcessorNode] = []
            parents, steps = [], []
            for node in self.plan.topology.nodes:
                if not isinstance(node, ProcessorNode) or not isinstance(node.operator, _FOLDS):
                    continue
                number = self.numbers[node.parents[0]]
                if node.operator.store == store and self.builder.isMade(number):
                    folded = self.folded(node.operator.step, node, number)
                    step = folded.add if folded else step_column(node.operator.step, node.operator.initial)
                    nodes.append(node)
                    parents.append(number)
                    steps.append(step._jc)
            try:
                self._kept_types[store] = self.builder.aggregateType(java_column(initial), parents, steps)
            except (PySparkException, Py4JJavaError):
                self._blame(nodes, initial, parents, steps)
                raise
        return self._kept_types[store]

    def _blame(
        self, nodes: list[ProcessorNode], initial: Column | None, parents: list[int], steps: list[Any]
    ) -> None:
        """Raise the fault of the first step that does not go together with those before it."""
        for last, node in enumerate(nodes, start=1):
            step = node.operator.step if isinstance(node.operator, _FOLDS) else None
            try:
                with about(step, node.name, str(node.location)):
                    self.builder.aggregateType(java_column(initial), parents[:last], steps[:last])
            except ExpressionError as error:
                # What the steps so far leave open, a later one may tell.
                if not leaves_type_open(error.__cause__):
                    raise

    def folded(self, step: Step, node: ProcessorNode, parent: int) -> Folded | None:
        """Return the Columns of the short form; None for a function."""
        if isinstance(step, Function | PythonFunction):
            return None
        where = str(node.location) if node.location else None
        types = _ColumnTypes(self.builder, parent)
        if isinstance(step, op.Top):
            with about(step.by, node.name, where):
                return top(step, types, undoable=isinstance(node.operator, op.TableAggregate))
        with explained(f"agg() of {node.name}", where):
            return fold(step, self.wire.type_of(parent, False), types, where)

    def kind(self, store: str | None) -> str:
        """Return how a store keeps its rows; nothing for no store."""
        if store is None:
            return ""
        chosen = self.plan.topology.store(store).store_type
        return self.store_type if chosen == "auto" else chosen


_ADD: dict[type, Callable[[Processors, ProcessorNode, Any, At], None]] = {
    op.Filter: Processors._filter,
    op.Map: Processors._map,
    op.MapValues: Processors._map_values,
    op.SelectKey: Processors._select_key,
    op.FlatMap: Processors._flat_map,
    op.FlatMapValues: Processors._flat_map_values,
    op.Branch: Processors._branch,
    op.Tap: Processors._tap,
    op.PassThrough: Processors._pass,
    op.KeyNotNull: Processors._key_not_null,
    op.Aggregate: Processors._aggregate,
    op.TableSource: Processors._table_source,
    op.TableFilter: Processors._table_filter,
    op.TableMapValues: Processors._table_map_values,
    op.TableToStream: Processors._to_stream,
    op.TableGroup: Processors._table_group,
    op.TableAggregate: Processors._table_aggregate,
    **WINDOWING,
    **TIMING,
    **JOINING,
}


class _ColumnTypes(TypeOf):
    """Asks the builder what type a Column over a node's value has."""

    def __init__(self, builder: Any, node: int) -> None:
        self._builder = builder
        self._node = node

    def __call__(self, column: Column) -> DataType:
        return _parse_datatype_json_string(self._builder.columnType(self._node, column._jc))

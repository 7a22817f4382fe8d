"""What the functions that add operators to the kernel's program have at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import Column
from pyspark.sql.types import DataType, _parse_datatype_json_string

from brookmere.plan.stages import Plan
from brookmere.run.compile.short_aggregates import Folded, TypeOf, fold, top
from brookmere.run.expressions.faults import about, explained
from brookmere.run.program_builder import ProgramBuilder, StoreSpec, TimedStoreSpec
from brookmere.run.wire.wire import Wire
from brookmere.topology import operators as op
from brookmere.topology.function import Function
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import PythonFunction
from brookmere.topology.windows import FOREVER


@dataclass(frozen=True, slots=True)
class EarlyFold:
    """The parts of an aggregate whose records were folded before the exchange."""

    merge: Column
    kept: str
    result: Column | None


@dataclass(slots=True)
class Processors:
    """The program being built, and what its processors share."""

    plan: Plan
    builder: ProgramBuilder
    wire: Wire
    numbers: Mapping[str, int]
    store_type: str
    kept_types: dict[str, str] = field(default_factory=dict)
    """By store, the type that all aggregates which share it agree on."""
    early_folds: dict[str, EarlyFold] = field(default_factory=dict)

    def kind(self, store: str) -> str:
        """Return how a store keeps its rows."""
        chosen = self.plan.topology.store(store).store_type
        return self.store_type if chosen == "auto" else chosen

    def store(self, name: str) -> StoreSpec:
        """Return a store as the kernel needs to know it."""
        return StoreSpec(name, self.kind(name))

    def store_if_any(self, name: str | None) -> StoreSpec | None:
        """Return the store of an operator that may have one."""
        return None if name is None else self.store(name)

    def timed_store(self, name: str) -> TimedStoreSpec:
        """Return a store whose rows expire."""
        retention = self.plan.topology.store(name).retention_ms
        return TimedStoreSpec(name, self.kind(name), FOREVER if retention is None else retention)

    def short_form(self, step: op.Fold, node: ProcessorNode, parent: int) -> Folded | None:
        """Return the Columns of a step in a short form; None for a function."""
        if isinstance(step, Function | PythonFunction):
            return None
        where = str(node.location) if node.location else None
        types = _ColumnTypes(self.builder, parent)
        if isinstance(step, op.Top):
            with about(step.by, node.name, where):
                return top(step, types, undoable=isinstance(node.operator, op.TableAggregate))
        with explained(f"agg() of {node.name}", where):
            return fold(step, self.wire.type_of(parent, False), types, where)


class _ColumnTypes(TypeOf):
    """Asks the builder for the type of a Column over a node's value."""

    def __init__(self, builder: ProgramBuilder, node: int) -> None:
        self._builder = builder
        self._node = node

    def __call__(self, column: Column) -> DataType:
        return _parse_datatype_json_string(self._builder.column_type(self._node, column))

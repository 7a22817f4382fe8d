"""What the functions that add operators to the kernel's program have at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column
from pyspark.sql.types import DataType, _parse_datatype_json_string

from brookmere.plan.stages import Plan
from brookmere.run.compile.short_aggregates import Folded, TypeOf, fold, top
from brookmere.run.expressions.faults import about, explained
from brookmere.run.wire.wire import Wire
from brookmere.topology import operators as op
from brookmere.topology.function import Function
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import PythonFunction

At = tuple[int, str, int, list[int]]
"""The number, name and stage of a node, and the numbers of its parents."""


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
    builder: Any
    wire: Wire
    numbers: Mapping[str, int]
    store_type: str
    kept_types: dict[str, str] = field(default_factory=dict)
    """By store, the type that all aggregates which share it agree on."""
    early_folds: dict[str, EarlyFold] = field(default_factory=dict)

    def kind(self, store: str | None) -> str:
        """Return how a store keeps its rows; an empty text for no store."""
        if store is None:
            return ""
        chosen = self.plan.topology.store(store).store_type
        return self.store_type if chosen == "auto" else chosen

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

    def __init__(self, builder: Any, node: int) -> None:
        self._builder = builder
        self._node = node

    def __call__(self, column: Column) -> DataType:
        return _parse_datatype_json_string(self._builder.columnType(self._node, column._jc))

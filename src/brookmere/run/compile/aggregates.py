"""Adds aggregates without windows, and the early folds before their repartitions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column

from brookmere.errors import ExpressionError
from brookmere.run.compile.build_context import EarlyFold, Processors
from brookmere.run.compile.short_aggregates import Folded
from brookmere.run.expressions.columns import ITEM, NOTHING, REDUCER, STEP, column, to_column
from brookmere.run.expressions.faults import about, leaves_type_open
from brookmere.run.program_builder import FoldSpec, Place
from brookmere.topology import operators as op
from brookmere.topology.function import Function
from brookmere.topology.nodes import ProcessorNode

_StreamAggregate = op.Aggregate | op.WindowAggregate


@dataclass(frozen=True, slots=True)
class Parts:
    """The Columns of an aggregate, in a short form or as functions."""

    initial: Column | None
    """None if the first value is the first aggregate."""
    add: Column
    result: Column | None
    short: Folded | None


def parts_of(
    p: Processors, node: ProcessorNode, step: op.Fold, initial: op.Initial | None, parent: int
) -> Parts:
    """Return the Columns of an aggregate whose values come from the node `parent`."""
    short = p.short_form(step, node, parent)
    if short is not None:
        return Parts(short.initial, short.add, short.result, short)
    return Parts(_initial_column(initial), _step_column(step, initial), None, None)


def add_aggregate(p: Processors, node: ProcessorNode, o: op.Aggregate, at: Place) -> None:
    early = p.early_folds.get(node.name)
    if early is not None:
        # The records are folds already: the first one is the aggregate, the others are merged into it.
        initial, step, result = None, early.merge, early.result
    else:
        parts = parts_of(p, node, o.step, o.initial, p.numbers[node.parents[0]])
        initial, step, result = parts.initial, parts.add, parts.result
    with about(o.step, node.name, str(node.location)):
        kept = early.kept if early else kept_type(p, o.store, initial)
        fold = FoldSpec(initial, step, None, kept, result)
        p.builder.aggregate(at, p.store(o.store), fold, o.send_old, early is not None)


def fold_early(p: Processors, node: ProcessorNode, at: Place) -> Place:
    """Fold the records for the aggregate `node` before the node at `at`, if that changes no result.

    Returns the new place of that node, after the fold.
    """
    o = node.operator
    parent = at.parents[0]
    if not isinstance(o, op.Aggregate):
        return at
    parts = parts_of(p, node, o.step, o.initial, parent)
    merge = parts.short.merge if parts.short else column(o.merge, REDUCER) if o.merge else None
    if merge is None:
        return at
    number = len(p.numbers) + len(p.early_folds)
    with about(o.step, node.name, str(node.location)):
        kept = p.builder.aggregate_type(parts.initial, [parent], [parts.add])
        fold = FoldSpec(parts.initial, parts.add, None, kept, None)
        p.builder.combine(Place(number, node.name, 0, [parent]), p.numbers[node.name], fold)
    p.early_folds[node.name] = EarlyFold(merge, kept, parts.result)
    return replace(at, parents=[number])


def add_table_aggregate(p: Processors, node: ProcessorNode, o: op.TableAggregate, at: Place) -> None:
    parts = parts_of(p, node, o.adder, o.initial, p.numbers[node.parents[0]])
    subtract = parts.short.subtract if parts.short else _step_column(o.subtractor, o.initial)
    with about(o.adder, node.name, str(node.location)):
        p.builder.aggregate_type(parts.initial, at.parents, [parts.add])
    # The adder is valid, so any fault from here on is the subtractor's.
    with about(o.subtractor, node.name, str(node.location)):
        kept = p.builder.aggregate_type(parts.initial, [*at.parents, *at.parents], [parts.add, subtract])
        fold = FoldSpec(parts.initial, parts.add, None, kept, parts.result)
        p.builder.table_aggregate(at, p.store(o.store), fold, subtract, o.send_old)


def add_dedupe(p: Processors, node: ProcessorNode, o: op.Dedupe, at: Place) -> None:
    with about(o.by, node.name, None):
        by = None if o.by is None else column(o.by, ITEM)
        p.builder.dedupe(at, p.store(o.store), by, o.within_ms)


def kept_type(p: Processors, store: str, initial: Column | None) -> str:
    """Return the type that a store keeps, which depends on all aggregates that share it."""
    if store not in p.kept_types:
        nodes: list[ProcessorNode] = []
        parents, steps = [], []
        for node in p.plan.topology.keepers(store):
            number = p.numbers[node.parents[0]]
            if isinstance(node.operator, _StreamAggregate) and p.builder.is_made(number):
                parts = parts_of(p, node, node.operator.step, node.operator.initial, number)
                nodes.append(node)
                parents.append(number)
                steps.append(parts.add)
        try:
            p.kept_types[store] = p.builder.aggregate_type(initial, parents, steps)
        except (PySparkException, Py4JJavaError):
            _blame(p, nodes, initial, parents, steps)
            raise
    return p.kept_types[store]


def _blame(
    p: Processors, nodes: list[ProcessorNode], initial: Column | None, parents: list[int], steps: list[Column]
) -> None:
    """Raise the fault of the first step whose type does not fit those before it."""
    for last, node in enumerate(nodes, start=1):
        step = node.operator.step if isinstance(node.operator, _StreamAggregate) else None
        try:
            with about(step, node.name, str(node.location)):
                p.builder.aggregate_type(initial, parents[:last], steps[:last])
        except ExpressionError as error:
            # A later step may complete a type that the steps so far leave open.
            if not leaves_type_open(error.__cause__):
                raise


def _initial_column(initial: op.Initial | None) -> Column | None:
    if initial is None:
        return None
    return to_column(initial.value) if isinstance(initial, op.Literal) else column(initial, NOTHING)


def _step_column(step: op.Fold, initial: op.Initial | None) -> Column:
    """Return the aggregate after one more value; a step without an initial value is a reducer."""
    if not isinstance(step, Function):
        raise TypeError("a short form is folded, not called")
    return column(step, REDUCER if initial is None else STEP)

"""Adds the operators that treat each record of a stream alone."""

# ruff: noqa: ARG001 - all operators are added by functions of one form

from __future__ import annotations

from brookmere.errors import ExpressionError, Fault
from brookmere.run.compile.build_context import Processors
from brookmere.run.expressions.columns import RECORD, column, pair
from brookmere.run.expressions.faults import about, explained
from brookmere.run.program_builder import Place
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode


def add_filter(p: Processors, node: ProcessorNode, o: op.Filter, at: Place) -> None:
    with about(o.predicate, node.name, None):
        p.builder.filter(at, column(o.predicate, RECORD), o.negate)


def add_map(p: Processors, node: ProcessorNode, o: op.Map, at: Place) -> None:
    with about(o.function, node.name, None):
        key, value = pair(o.function, RECORD)
        p.builder.project(at, key, value)


def add_map_values(p: Processors, node: ProcessorNode, o: op.MapValues, at: Place) -> None:
    with about(o.function, node.name, None):
        p.builder.project(at, None, column(o.function, RECORD))


def add_select_key(p: Processors, node: ProcessorNode, o: op.SelectKey, at: Place) -> None:
    with about(o.function, node.name, None):
        p.builder.project(at, column(o.function, RECORD), None)


def add_flat_map(p: Processors, node: ProcessorNode, o: op.FlatMap, at: Place) -> None:
    with about(o.function, node.name, None):
        p.builder.flat_map(at, column(o.function, RECORD))


def add_flat_map_values(p: Processors, node: ProcessorNode, o: op.FlatMapValues, at: Place) -> None:
    with about(o.function, node.name, None):
        p.builder.flat_map_values(at, column(o.function, RECORD))


def add_branch(p: Processors, node: ProcessorNode, o: op.Branch, at: Place) -> None:
    p.builder.branch(at, o.default is not None)
    faults: list[Fault] = []
    for predicate in o.predicates:
        try:
            with about(predicate, node.name, None):
                p.builder.branch_test(at.number, column(predicate, RECORD))
        except ExpressionError as error:
            faults += error.faults
    if faults:
        raise ExpressionError(faults)


def add_tap(p: Processors, node: ProcessorNode, o: op.Tap, at: Place) -> None:
    p.builder.tap(at)


def add_pass_through(p: Processors, node: ProcessorNode, o: op.PassThrough, at: Place) -> None:
    with explained(f"node {node.name}", str(node.location) if node.location else None):
        p.builder.pass_through(at)


def add_key_not_null(p: Processors, node: ProcessorNode, o: op.KeyNotNull, at: Place) -> None:
    p.builder.key_not_null(at)

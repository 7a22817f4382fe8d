"""Adds the operators that treat each record of a stream alone."""

# ruff: noqa: ARG001 - all operators are added by functions of one form

from __future__ import annotations

from brookmere.errors import ExpressionError, Fault
from brookmere.run.compile.processors import At, Processors
from brookmere.run.expressions.columns import RECORD, column, pair
from brookmere.run.expressions.faults import about, explained
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode


def add_filter(p: Processors, node: ProcessorNode, o: op.Filter, at: At) -> None:
    with about(o.predicate, node.name, None):
        p.builder.filter(*at, column(o.predicate, RECORD)._jc, o.negate)


def add_map(p: Processors, node: ProcessorNode, o: op.Map, at: At) -> None:
    with about(o.function, node.name, None):
        key, value = pair(o.function, RECORD)
        p.builder.project(*at, key._jc, value._jc)


def add_map_values(p: Processors, node: ProcessorNode, o: op.MapValues, at: At) -> None:
    with about(o.function, node.name, None):
        p.builder.project(*at, None, column(o.function, RECORD)._jc)


def add_select_key(p: Processors, node: ProcessorNode, o: op.SelectKey, at: At) -> None:
    with about(o.function, node.name, None):
        p.builder.project(*at, column(o.function, RECORD)._jc, None)


def add_flat_map(p: Processors, node: ProcessorNode, o: op.FlatMap, at: At) -> None:
    with about(o.function, node.name, None):
        p.builder.flatMap(*at, column(o.function, RECORD)._jc)


def add_flat_map_values(p: Processors, node: ProcessorNode, o: op.FlatMapValues, at: At) -> None:
    with about(o.function, node.name, None):
        p.builder.flatMapValues(*at, column(o.function, RECORD)._jc)


def add_branch(p: Processors, node: ProcessorNode, o: op.Branch, at: At) -> None:
    p.builder.branch(*at, o.default is not None)
    faults: list[Fault] = []
    for predicate in o.predicates:
        try:
            with about(predicate, node.name, None):
                p.builder.branchTest(at[0], column(predicate, RECORD)._jc)
        except ExpressionError as error:
            faults += error.faults
    if faults:
        raise ExpressionError(faults)


def add_tap(p: Processors, node: ProcessorNode, o: op.Tap, at: At) -> None:
    p.builder.tap(*at)


def add_pass_through(p: Processors, node: ProcessorNode, o: op.PassThrough, at: At) -> None:
    with explained(f"node {node.name}", str(node.location) if node.location else None):
        p.builder.passThrough(*at)


def add_key_not_null(p: Processors, node: ProcessorNode, o: op.KeyNotNull, at: At) -> None:
    p.builder.keyNotNull(*at)

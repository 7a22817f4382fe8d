"""Adds the operators that read, filter, compute and regroup tables."""

# ruff: noqa: ARG001 - all operators are added by functions of one form

from __future__ import annotations

from brookmere.run.compile.build_context import Processors
from brookmere.run.expressions.columns import RECORD, column, pair
from brookmere.run.expressions.faults import about
from brookmere.run.program_builder import Place
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode


def add_table_source(p: Processors, node: ProcessorNode, o: op.TableSource, at: Place) -> None:
    if o.store is None:
        p.builder.table_source(at, None, o.send_old)
    elif o.ttl_ms is not None:
        p.builder.expiring_table(at, p.store(o.store), o.ttl_ms, o.send_old)
    elif o.versioned:
        history = p.timed_store(o.store).retention
        p.builder.versioned_source(at, p.store(o.store), history, o.send_old)
    else:
        p.builder.table_source(at, p.store(o.store), o.send_old)


def add_table_filter(p: Processors, node: ProcessorNode, o: op.TableFilter, at: Place) -> None:
    with about(o.predicate, node.name, None):
        test = column(o.predicate, RECORD)
        p.builder.table_filter(at, test, o.negate, p.store_if_any(o.store), o.send_old, o.versioned)


def add_table_map_values(p: Processors, node: ProcessorNode, o: op.TableMapValues, at: Place) -> None:
    with about(o.function, node.name, None):
        mapped = column(o.function, RECORD)
        p.builder.table_map_values(at, mapped, p.store_if_any(o.store), o.send_old, o.sees_null)


def add_table_to_stream(p: Processors, node: ProcessorNode, o: op.TableToStream, at: Place) -> None:
    p.builder.table_to_stream(at)


def add_table_group(p: Processors, node: ProcessorNode, o: op.TableGroup, at: Place) -> None:
    with about(o.function, node.name, None):
        key, value = pair(o.function, RECORD)
        p.builder.table_group(at, key, value, o.versioned)

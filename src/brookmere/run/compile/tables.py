"""Adds the operators that read, filter, compute and regroup tables."""

# ruff: noqa: ARG001 - all operators are added by functions of one form

from __future__ import annotations

from brookmere.run.compile.processors import At, Processors
from brookmere.run.expressions.columns import RECORD, column, pair
from brookmere.run.expressions.faults import about
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode


def add_table_source(p: Processors, node: ProcessorNode, o: op.TableSource, at: At) -> None:
    kind = p.kind(o.store)
    if o.ttl_ms is not None:
        p.builder.expiringTable(*at, o.store, kind, o.ttl_ms, o.send_old)
    elif o.store is None or not o.versioned:
        p.builder.tableSource(*at, o.store, kind, o.send_old)
    else:
        history = p.plan.topology.store(o.store).retention_ms
        p.builder.versionedSource(*at, o.store, kind, history, o.send_old)


def add_table_filter(p: Processors, node: ProcessorNode, o: op.TableFilter, at: At) -> None:
    with about(o.predicate, node.name, None):
        test = column(o.predicate, RECORD)._jc
        p.builder.tableFilter(*at, test, o.negate, o.store, p.kind(o.store), o.send_old, o.versioned)


def add_table_map_values(p: Processors, node: ProcessorNode, o: op.TableMapValues, at: At) -> None:
    with about(o.function, node.name, None):
        mapped = column(o.function, RECORD)._jc
        p.builder.tableMapValues(*at, mapped, o.store, p.kind(o.store), o.send_old, o.sees_null)


def add_table_to_stream(p: Processors, node: ProcessorNode, o: op.TableToStream, at: At) -> None:
    p.builder.tableToStream(*at)


def add_table_group(p: Processors, node: ProcessorNode, o: op.TableGroup, at: At) -> None:
    with about(o.function, node.name, None):
        key, value = pair(o.function, RECORD)
        p.builder.tableGroup(*at, key._jc, value._jc, o.versioned)

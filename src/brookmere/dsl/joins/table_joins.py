"""Table-table joins by key; joins by foreign key are passed on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brookmere.dsl.arguments.checks import how_of, lambda_of, refuse
from brookmere.dsl.graph.old_values import send_old_values
from brookmere.dsl.graph.steps import Step
from brookmere.dsl.graph.views import is_versioned, store_names_behind
from brookmere.dsl.joins.foreign_key_join import join_foreign
from brookmere.dsl.joins.join_steps import JoinStep
from brookmere.topology.function import Function, here
from brookmere.topology.nodes import ProcessorNode, StoreType
from brookmere.topology.operators import How, Side, TableJoin, TableJoinMerge

if TYPE_CHECKING:
    from brookmere.dsl.table import KTable

_MERGE = "KTABLE-MERGE-"


def join(
    left: KTable,
    right: object,
    joiner: Callable[..., Any],
    how: How,
    foreign_key: Callable[..., Any] | None,
    store: str | None,
    store_type: StoreType,
    name: str | None,
) -> KTable:
    """Join two tables by key, or by the foreign key that the left row names."""
    from brookmere.dsl.table import KTable

    if not isinstance(right, KTable):
        refuse(f"A table can be joined only with a table, found {right!r}", "Pass a KTable")
    both = lambda_of("joiner of join", joiner)
    graph = left._graph
    graph.check_name("operator", name)
    if foreign_key is not None:
        how_of(how, ("inner", "left"), "KTable by foreign_key=")
        key = lambda_of("foreign_key of join", foreign_key)
    else:
        how_of(how, ("inner", "left", "outer"), "KTable")
    if not graph.same(right._graph, "join() got a table"):
        return left
    if foreign_key is not None:
        return join_foreign(left, right, both, key, how, store, store_type, name)
    return _join(left, right, both, how, store, store_type, name)


def _join(
    left: KTable,
    right: KTable,
    joiner: Function,
    how: How,
    store: str | None,
    store_type: StoreType,
    name: str | None,
) -> KTable:
    graph = left._graph
    merge_name = graph.names.choose(name, _MERGE)
    sources = tuple(dict.fromkeys((*left._sources, *right._sources)))
    graph.copartitioned.append(sources)
    # Only the old value shows whether a deleted row had a result.
    if how != "inner":
        send_old_values(left._step, force=True)
    if how == "outer":
        send_old_values(right._step, force=True)
    kept = None if store is None else replace(graph.store(store, _MERGE, store_type), key=left._key)

    def side(which: Side, node: str, own: Step, other: Step) -> ProcessorNode:
        operator = TableJoin(which, other.name, how, joiner, versioned=is_versioned(own))
        return ProcessorNode(node, (own.name,), operator, store_names_behind(other), here())

    this = graph.names.choose(name, "KTABLE-JOINTHIS-", "-join-this")
    other = graph.names.choose(name, "KTABLE-JOINOTHER-", "-join-other")
    step = JoinStep(
        name=merge_name,
        location=here(),
        sides=(side("left", this, left._step, right._step), side("right", other, right._step, left._step)),
        merge=TableJoinMerge(store),
        store=kept,
    )
    graph.add(step, left._step, right._step)
    return replace(left, _step=step, _value=None, _sources=sources, _store=store)

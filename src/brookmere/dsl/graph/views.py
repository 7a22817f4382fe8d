"""Where the rows of a table are found: the stores for lookups, and whether it keeps versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from brookmere.dsl.graph.steps import ProcessorStep, Step
from brookmere.dsl.joins.join_steps import JoinStep
from brookmere.topology.nodes import Store
from brookmere.topology.operators import TableSource


def stores_behind(step: Step) -> tuple[Store, ...]:
    """Return the stores with the rows of a table; a table source gets a store.

    A table without its own store is computed from the tables upstream.
    """
    if isinstance(step, JoinStep):
        return (step.store,) if step.store is not None else _above(step)
    if not isinstance(step, ProcessorStep):
        return ()
    own = () if step.store is None else (step.store,)
    operator = step.operator
    if isinstance(operator, TableSource):
        step.operator = replace(operator, store=operator.store if not own else own[0].name)
        return own
    match operator.rows:
        case "parents":
            return _above(step)
        case "own store or parents" if not operator.kept_stores:
            return _above(step)
        case "own store and parents":
            return _each_once((*own, *_above(step)))
    return own


def store_names_behind(step: Step) -> tuple[str, ...]:
    """Return the names of the stores in which rows of a table are looked up."""
    return tuple(store.name for store in stores_behind(step))


def is_versioned(step: Step) -> bool:
    """Return whether the updates of a table come from a table with history.

    Filtered and mapped tables are like the table they are derived from, unless they have a store.
    """
    if not isinstance(step, ProcessorStep):
        return False
    operator = step.operator
    if isinstance(operator, TableSource):
        return operator.versioned
    computed = operator.rows == "own store or parents" and not operator.kept_stores
    return computed and all(is_versioned(parent) for parent in step.parents)


def _above(step: Step) -> tuple[Store, ...]:
    return _each_once(store for parent in step.parents for store in stores_behind(parent))


def _each_once(stores: Iterable[Store]) -> tuple[Store, ...]:
    return tuple({store.name: store for store in stores}.values())

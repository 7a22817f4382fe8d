"""What is behind a table that other operators read: its stores, and whether it has history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from brookmere.dsl.graph.steps import ProcessorStep, Step
from brookmere.dsl.joins.join_steps import JoinStep
from brookmere.topology.nodes import Store
from brookmere.topology.operators import PassThrough, Suppress, TableFilter, TableMapValues, TableSource


def stores_behind(step: Step) -> tuple[Store, ...]:
    """Return the stores with the rows of a table; a table source gets a store.

    A table without its own store is computed from the tables upstream.
    """
    if isinstance(step, JoinStep):
        return (step.store,) if step.store is not None else _above(step)
    if not isinstance(step, ProcessorStep):
        return ()
    own = () if step.store is None else (step.store,)
    match step.operator:
        case TableSource() as operator:
            step.operator = replace(operator, store=operator.store if not own else own[0].name)
        case TableFilter(store=None) | TableMapValues(store=None) | PassThrough():
            return _above(step)
        case Suppress():
            return _each_once((*own, *_above(step)))
    return own


def store_names_behind(step: Step) -> tuple[str, ...]:
    """Return the names of the stores behind a table, for an operator that reads it."""
    return tuple(store.name for store in stores_behind(step))


def is_versioned(step: Step) -> bool:
    """Return whether the updates of a table come from a table with history.

    Filtered and mapped tables are like the table they are derived from, unless they have a store.
    """
    match step.operator if isinstance(step, ProcessorStep) else None:
        case TableSource(versioned=versioned):
            return versioned
        case TableFilter(store=None) | TableMapValues(store=None):
            return all(is_versioned(parent) for parent in step.parents)
    return False


def _above(step: Step) -> tuple[Store, ...]:
    return _each_once(store for parent in step.parents for store in stores_behind(parent))


def _each_once(stores: Iterable[Store]) -> tuple[Store, ...]:
    return tuple({store.name: store for store in stores}.values())

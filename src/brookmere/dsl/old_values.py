"""Turns on that a table tells the old value with each update, in the table and where it gets them from."""

from __future__ import annotations

from dataclasses import replace

from brookmere.dsl.steps import ProcessorStep, Step
from brookmere.topology.operators import (
    Aggregate,
    PassThrough,
    Suppress,
    TableAggregate,
    TableFilter,
    TableMapValues,
    TableSource,
    WindowAggregate,
)


def send_old_values(step: Step, *, force: bool) -> bool:
    """Make the table of `step` send old values; return whether it does.

    A table source without a store knows no old values. It is given its store if `force` is true.
    """
    if not isinstance(step, ProcessorStep):
        return False
    match step.operator:
        case TableSource(store=None) if not force:
            return False
        case TableSource() as operator:
            name = operator.store if step.store is None else step.store.name
            step.operator = replace(operator, store=name, send_old=True)
        case Aggregate() | TableAggregate() | WindowAggregate() as operator:
            step.operator = replace(operator, send_old=True)
        case TableFilter() | TableMapValues() as operator if not operator.send_old:
            if operator.store is None and not _above(step, force=force):
                return False
            step.operator = replace(operator, send_old=True)
        case PassThrough() | Suppress():
            return _above(step, force=force)
    return True


def _above(step: Step, *, force: bool) -> bool:
    # Every parent is asked, also after one that cannot.
    answers = [send_old_values(parent, force=force) for parent in step.parents]
    return all(answers)

"""Make a table, and the tables it is computed from, send the old value with each update."""

from __future__ import annotations

from dataclasses import replace

from brookmere.dsl.graph.steps import ProcessorStep, Step
from brookmere.dsl.joins.join_steps import JoinStep
from brookmere.topology.join_operators import TableJoin, TableJoinMerge
from brookmere.topology.operators import (
    Aggregate,
    Operator,
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

    A table source without a store has no old values; it gets a store if `force` is true.
    """
    if isinstance(step, JoinStep):
        return _joined(step)
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


def _joined(step: JoinStep) -> bool:
    # Old results are computed from the old values of both tables, so both must send them.
    left, right = (replace(side, operator=_sending(side.operator)) for side in step.sides)
    step.sides = (left, right)
    step.merge = _sending(step.merge)
    for parent in step.parents:
        send_old_values(parent, force=True)
    return True


def _sending(operator: Operator) -> Operator:
    return replace(operator, send_old=True) if isinstance(operator, TableJoin | TableJoinMerge) else operator


def _above(step: Step, *, force: bool) -> bool:
    # Every parent is switched, even after one that cannot send them.
    answers = [send_old_values(parent, force=force) for parent in step.parents]
    return all(answers)

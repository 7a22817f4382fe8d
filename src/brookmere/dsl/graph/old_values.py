"""Make a table, and the tables it is computed from, send the old value with each update."""

from __future__ import annotations

from dataclasses import replace

from brookmere.dsl.graph.steps import ProcessorStep, Step
from brookmere.dsl.joins.join_steps import JoinStep
from brookmere.topology.operators import Operator, TableSource


def send_old_values(step: Step, *, force: bool) -> bool:
    """Make the table of `step` send old values; return whether it does.

    A table source without a store has no old values; it gets a store if `force` is true.
    """
    if isinstance(step, JoinStep):
        return _joined(step)
    if not isinstance(step, ProcessorStep):
        return False
    match step.operator.rows:
        case "own store":
            if isinstance(step.operator, TableSource) and not _has_store(step, step.operator, force=force):
                return False
        case "own store or parents":
            known = step.operator.sends_old_values or bool(step.operator.kept_stores)
            if not known and not _above(step, force=force):
                return False
        case "parents" | "own store and parents":
            return _above(step, force=force)
        case "none":
            return False
    step.operator = _sending(step.operator)
    return True


def _has_store(step: ProcessorStep, source: TableSource, *, force: bool) -> bool:
    if source.store is None and not force:
        return False
    step.operator = replace(source, store=source.store if step.store is None else step.store.name)
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
    # A merge of streams is a JoinStep as well, and has no old values.
    return operator if operator.rows in ("none", "parents") else operator.with_old_values()


def _above(step: Step, *, force: bool) -> bool:
    # Every parent is switched, even after one that cannot send them.
    sending = [send_old_values(parent, force=force) for parent in step.parents]
    return all(sending)

"""Turns the parts of an aggregate that users write into Columns."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column

from brookmere.run.expressions.columns import NOTHING, REDUCER, STEP, column, to_column
from brookmere.topology.function import Function
from brookmere.topology.operators import Fold, Initial, Literal

Step = Fold


def initial_column(initial: Initial | None) -> Column | None:
    """Return what an aggregate starts with; None if that is its first value."""
    if initial is None:
        return None
    return to_column(initial.value) if isinstance(initial, Literal) else column(initial, NOTHING)


def step_column(step: Step, initial: Initial | None) -> Column:
    """Return the aggregate after one more value; a step without initial value is a reducer."""
    if not isinstance(step, Function):
        raise TypeError("a short form is folded, not called")
    return column(step, REDUCER if initial is None else STEP)


def java_column(column: Column | None) -> Any:
    """Return the JVM's object of a Column, if there is one."""
    return None if column is None else column._jc

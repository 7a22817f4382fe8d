"""Turns a user's function or plain value into a Column."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as F

from brookmere.errors import ExpressionError, Fault
from brookmere.topology.function import Function

KEY, VALUE, TIMESTAMP, AGGREGATE = "key", "value", "timestamp", "aggregate"

# Which Columns a function receives, by the number of its parameters.
Signatures = Mapping[int, tuple[str, ...]]
RECORD: Signatures = {0: (), 1: (VALUE,), 2: (KEY, VALUE), 3: (KEY, VALUE, TIMESTAMP)}
STEP: Signatures = {1: (AGGREGATE,), 2: (VALUE, AGGREGATE), 3: (KEY, VALUE, AGGREGATE)}
REDUCER: Signatures = {2: (AGGREGATE, VALUE), 3: (KEY, AGGREGATE, VALUE)}
NOTHING: Signatures = {0: ()}


def to_column(value: Any) -> Column:
    """Return a Column for a Column, or for a Python value: a dict is a struct, a list an array."""
    if isinstance(value, Column):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return F.struct(*[to_column(v).alias(str(k)) for k, v in value.items()])
    if isinstance(value, list | tuple):
        return F.array(*[to_column(v) for v in value])
    if isinstance(value, int) and not isinstance(value, bool):
        return F.lit(value).cast("bigint")
    return F.lit(value)


def call(function: Function, signatures: Signatures) -> Any:
    """Call a user's function with Columns; the number of its parameters says with which."""
    count = _parameters(function, signatures)
    columns = [F.col(name) for name in signatures[count]]
    try:
        return function.call(*columns)
    except ExpressionError:
        raise
    except Exception as error:
        raise ExpressionError([_failed(function, error)]) from error


def column(function: Function, signatures: Signatures) -> Column:
    """Call a user's function and make a Column of what it returns."""
    result = call(function, signatures)
    try:
        return to_column(result)
    except (PySparkException, TypeError, ValueError) as error:
        raise ExpressionError([_failed(function, error)]) from error


def pair(function: Function, signatures: Signatures) -> tuple[Column, Column]:
    """Call a user's function that returns a key and a value."""
    result = call(function, signatures)
    if not isinstance(result, tuple) or len(result) != 2:
        raise ExpressionError(
            [
                Fault(
                    f"The {function.role} must return a key and a value, found {type(result).__name__}",
                    str(function.location),
                    "Return a tuple, for example `lambda key, value: (value.id, value)`",
                )
            ]
        )
    return to_column(result[0]), to_column(result[1])


def _parameters(function: Function, signatures: Signatures) -> int:
    try:
        parameters = inspect.signature(function.call).parameters.values()
    except (TypeError, ValueError):
        return 1 if 1 in signatures else max(signatures)
    required = [
        p
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if len(required) in signatures:
        return len(required)
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return max(n for n in signatures)
    forms = " or ".join(f"({', '.join(names)})" for names in signatures.values())
    raise ExpressionError(
        [
            Fault(
                f"The {function.role} takes {len(required)} parameters",
                str(function.location),
                f"Write a function of {forms}",
            )
        ]
    )


def _failed(function: Function, error: Exception) -> Fault:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    remedy = "Use operations on Columns and pyspark.sql.functions; the function is called once, with Columns"
    if "CANNOT_CONVERT_COLUMN_INTO_BOOL" in text:
        remedy = "Use & for and, | for or, ~ for not, and F.when(...) instead of if"
    return Fault(
        f"The {function.role} failed with {type(error).__name__}: {text}", str(function.location), remedy
    )

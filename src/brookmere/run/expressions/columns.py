"""Calls the user's functions with Columns, and makes Columns of what they return."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as F

from brookmere.errors import ExpressionError, Fault, InternalError
from brookmere.topology.function import Function
from brookmere.topology.operators import Code
from brookmere.topology.python_code import PythonFunction

KEY, VALUE, TIMESTAMP, AGGREGATE = "key", "value", "timestamp", "aggregate"
LEFT, RIGHT = "left", "right"

# Which Columns a function receives, by the number of its parameters.
Signatures = Mapping[int, tuple[str, ...]]
RECORD: Signatures = {0: (), 1: (VALUE,), 2: (KEY, VALUE), 3: (KEY, VALUE, TIMESTAMP)}
ITEM: Signatures = {1: (VALUE,), 2: (KEY, VALUE)}
STEP: Signatures = {1: (AGGREGATE,), 2: (VALUE, AGGREGATE), 3: (KEY, VALUE, AGGREGATE)}
REDUCER: Signatures = {2: (AGGREGATE, VALUE), 3: (KEY, AGGREGATE, VALUE)}
JOINER: Signatures = {2: (LEFT, RIGHT), 3: (KEY, LEFT, RIGHT)}
NOTHING: Signatures = {0: ()}

# How a Column looks after str() or in an f-string.
_COLUMN_AS_TEXT = "Column<'"


def to_column(value: Any) -> Column:
    """Return a Column for a Column, or for a Python value: a dict is a struct, a list an array."""
    if isinstance(value, Column):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        # Not asdict(): it copies what the fields hold, and a Column cannot be copied.
        value = {member.name: getattr(value, member.name) for member in fields(value)}
    if isinstance(value, dict):
        return F.struct(*[to_column(v).alias(str(k)) for k, v in value.items()])
    if isinstance(value, list | tuple):
        return F.array(*[to_column(v) for v in value])
    if isinstance(value, int) and not isinstance(value, bool):
        return F.lit(value).cast("bigint")
    if isinstance(value, str) and _COLUMN_AS_TEXT in value:
        raise TypeError(f"a Column was turned into text: {value!r}; use F.concat or F.format_string instead")
    if isinstance(value, set | frozenset):
        raise TypeError("a set has no order; return a list, or F.array_distinct of an array")
    if isinstance(getattr(value, "__self__", None), Column):
        name = value.__name__
        raise TypeError(f"{name} is a method of Column; a field of this name is read as value[{name!r}]")
    try:
        return F.lit(value)
    except AttributeError:
        raise TypeError(f"{type(value).__name__} {value!r} cannot be a value of a Column") from None


def call(function: Code, signatures: Signatures) -> Any:
    """Call a user's function with Columns; the number of its parameters decides with which."""
    function = _over_columns(function)
    count = _parameters(function, signatures)
    return _called(function, [F.col(name) for name in signatures[count]])


def applied(function: Function, *columns: Column) -> Column:
    """Call a user's function with these Columns, and return its result as a Column."""
    return _returned(function, _called(function, columns))


def column(function: Code, signatures: Signatures) -> Column:
    """Call a user's function, and return its result as a Column."""
    return _returned(_over_columns(function), call(function, signatures))


def pair(function: Code, signatures: Signatures) -> tuple[Column, Column]:
    """Call a user's function that returns a key and a value."""
    function = _over_columns(function)
    result = call(function, signatures)
    if not isinstance(result, tuple) or len(result) != 2:
        found = f"a tuple of {len(result)}" if isinstance(result, tuple) else type(result).__name__
        raise ExpressionError(
            [
                Fault(
                    f"The {function.role} must return a key and a value, found {found}",
                    str(function.location),
                    "Return a tuple, for example `lambda key, value: (value.id, value)`",
                )
            ]
        )
    return _returned(function, result[0]), _returned(function, result[1])


def _over_columns(function: Code) -> Function:
    if isinstance(function, PythonFunction):
        raise InternalError(f"the {function.role} is Python code, but was used as a function over Columns")
    return function


def _called(function: Function, columns: Sequence[Column]) -> Any:
    try:
        return function.call(*columns)
    except ExpressionError:
        raise
    except Exception as error:
        raise ExpressionError([_failed(function, error)]) from error


def _returned(function: Function, value: Any) -> Column:
    try:
        return to_column(value)
    except (PySparkException, TypeError, ValueError) as error:
        raise ExpressionError([_failed(function, error)]) from error


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
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return max(n for n, names in signatures.items() if TIMESTAMP not in names)
    if len(required) in signatures:
        return len(required)
    forms = " or ".join(f"({', '.join(names)})" for names in signatures.values())
    raise ExpressionError(
        [
            Fault(
                f"The {function.role} takes {len(required)} parameter{'' if len(required) == 1 else 's'}",
                str(function.location),
                f"Write a function of {forms}",
            )
        ]
    )


def _failed(function: Function, error: Exception) -> Fault:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "CANNOT_CONVERT_COLUMN_INTO_BOOL" in text:
        return Fault(
            f"The {function.role} uses a Column as a boolean, with and, or, not, in or if",
            str(function.location),
            "Use & for and, | for or, ~ for not, isin() for in, and F.when(...) instead of if",
        )
    return Fault(
        f"The {function.role} failed with {type(error).__name__}: {text}",
        str(function.location),
        "Use operations on Columns and pyspark.sql.functions: the function is called once, with Columns",
    )

"""Recognise the types that users pass for the result of a function or the content of a store."""

from __future__ import annotations

import typing
from dataclasses import is_dataclass
from datetime import date, datetime
from decimal import Decimal

from brookmere.serde import Serde
from brookmere.serde.structures.dataclass_shapes import type_name

_SCALARS = (str, int, float, bool, bytes, date, datetime, Decimal)


def is_type(spec: object) -> bool:
    """Return whether `spec` is a DDL string, a Python type, a dataclass, a Spark type or a serde."""
    if isinstance(spec, str):
        return bool(spec.strip())
    if isinstance(spec, Serde) or spec in _SCALARS or (isinstance(spec, type) and is_dataclass(spec)):
        return True
    origin, arguments = typing.get_origin(spec), typing.get_args(spec)
    if origin is list:
        return len(arguments) == 1 and is_part(arguments[0])
    if origin is dict:
        return len(arguments) == 2 and arguments[0] is str and is_part(arguments[1])
    return is_spark_type(spec)


def is_part(hint: object) -> bool:
    """Return whether a type may be nested in another; `| None` is allowed there."""
    choices = [choice for choice in typing.get_args(hint) if choice is not type(None)]
    is_union = type(None) in typing.get_args(hint) and len(choices) == 1
    return is_type(choices[0]) if is_union else not isinstance(hint, str) and is_type(hint)


def is_spark_type(spec: object) -> bool:
    """Return whether `spec` is a Spark type, without importing Spark."""
    return any(parent.__module__ == "pyspark.sql.types" for parent in type(spec).__mro__)


def words_for(spec: object) -> str:
    """Return a type as the user wrote it, for messages."""
    if isinstance(spec, tuple):
        return f"({', '.join(words_for(part) for part in spec)})"
    return repr(spec) if isinstance(spec, str | int | Serde) or spec is None else type_name(spec)

"""A check for nulls where a schema allows none: Spark itself reads a null wherever a part is absent."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

Reason = Callable[[Column], Column]
"""Gives the words for what is wrong with a value; null where nothing is."""


def checked(value: Column, rule: DataType | Reason) -> Column:
    """Return `value`, or fail where a part of it is null that the type, or the rule, does not allow."""
    reason = _absent(rule, "value") if isinstance(rule, DataType) else rule
    if reason is None:
        return value

    def check(found: Column) -> Column:
        words = reason(found)
        return F.when(words.isNull(), found).otherwise(F.raise_error(words))

    # The lambda's variable holds the value, so it is computed once, however often the check looks at it.
    return F.get(F.transform(F.array(value), check), 0)


def _absent(data_type: DataType, path: str) -> Reason | None:
    if isinstance(data_type, StructType):
        return _absent_in_struct(data_type, path)
    if isinstance(data_type, ArrayType):
        return _absent_among(data_type.elementType, data_type.containsNull, path, lambda array: array)
    if isinstance(data_type, MapType):
        return _absent_among(data_type.valueType, data_type.valueContainsNull, path, F.map_values)
    return None


def _absent_in_struct(data_type: StructType, path: str) -> Reason | None:
    parts: list[Reason] = []
    for field in data_type.fields:
        parts += _part(field.name, field.nullable, f"{path}.{field.name}", field.dataType)
    if not parts:
        return None

    def reason(value: Column) -> Column:
        return F.when(value.isNotNull(), F.coalesce(*[part(value) for part in parts]))

    return reason


def _part(name: str, nullable: bool, path: str, data_type: DataType) -> list[Reason]:
    parts: list[Reason] = []
    if not nullable:
        parts.append(lambda value: F.when(value[name].isNull(), F.lit(f"{path} is null or absent")))
    inner = _absent(data_type, path)
    if inner is not None:
        parts.append(lambda value: inner(value[name]))
    return parts


def _absent_among(
    data_type: DataType, nullable: bool, path: str, elements: Callable[[Column], Column]
) -> Reason | None:
    inner = _absent(data_type, f"{path}[]")
    if nullable and inner is None:
        return None

    def of_element(element: Column) -> Column:
        null = F.when(element.isNull() & F.lit(not nullable), F.lit(f"{path} has a null among its elements"))
        return null if inner is None else F.coalesce(null, inner(element))

    return lambda value: F.get(F.array_compact(F.transform(elements(value), of_element)), 0)

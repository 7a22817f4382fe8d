"""Passes Python values to the kernel: Columns, and frozen dataclasses that mirror Scala classes."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from functools import reduce
from typing import Any, ClassVar, Protocol, TypeGuard

from pyspark.sql import Column


class JavaValue(Protocol):
    """A frozen dataclass with the fields of a Scala class, in their order; names are in snake case here."""

    java_class: ClassVar[str]


def to_java(jvm: Any, value: Any) -> Any:
    """Return `value` as an argument for a method of the kernel."""
    if isinstance(value, Column):
        return value._jc
    if _is_java_value(value):
        arguments = [to_java(jvm, getattr(value, part.name)) for part in _fields(value)]
        return reduce(getattr, value.java_class.split("."), jvm)(*arguments)
    if isinstance(value, list | tuple):
        return [to_java(jvm, item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return set(value)
    return value


def camel_case(name: str) -> str:
    """Return a name as Scala spells it.

    >>> camel_case("table_join_merge"), camel_case("keyType")
    ('tableJoinMerge', 'keyType')
    """
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


def _is_java_value(value: object) -> TypeGuard[JavaValue]:
    return is_dataclass(value) and not isinstance(value, type) and hasattr(value, "java_class")


def _fields(value: Any) -> tuple[Any, ...]:
    return fields(value)

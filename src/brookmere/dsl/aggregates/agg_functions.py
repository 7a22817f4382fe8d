"""The aggregates that `agg(total=sum("amount"))` accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brookmere.dsl.arguments.checks import lambda_of, refuse
from brookmere.topology.operators import ShortAggregate

Field = str | Callable[..., Any]
"""A field of the value, or a function of the value."""


def count() -> ShortAggregate:
    """Count the records."""
    return ShortAggregate("", "count", None)


def sum(field: Field) -> ShortAggregate:
    """Add up a field; nulls are ignored."""
    return _short("sum", field)


def avg(field: Field) -> ShortAggregate:
    """Compute the mean of a field; nulls are ignored."""
    return _short("avg", field)


def min(field: Field) -> ShortAggregate:
    """Keep the smallest value."""
    return _short("min", field)


def max(field: Field) -> ShortAggregate:
    """Keep the largest value."""
    return _short("max", field)


def first(field: Field) -> ShortAggregate:
    """Keep the value that arrived first."""
    return _short("first", field)


def last(field: Field) -> ShortAggregate:
    """Keep the value that arrived last."""
    return _short("last", field)


def collect_list(field: Field) -> ShortAggregate:
    """Collect all values in order of arrival."""
    return _short("collect_list", field)


def collect_set(field: Field) -> ShortAggregate:
    """Collect the distinct values."""
    return _short("collect_set", field)


def top_n(field: Field, n: int) -> ShortAggregate:
    """Keep the `n` largest values, largest first."""
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        refuse(f"top_n() needs n to be at least 1, found {n!r}", "Pass a positive int")
    return _short("top_n", field, n)


def _short(kind: str, field: Field, limit: int | None = None) -> ShortAggregate:
    read = field if isinstance(field, str) else lambda_of(f"field of {kind}", field)
    return ShortAggregate("", kind, read, limit)

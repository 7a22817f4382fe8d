"""The Columns of the short aggregates: `agg(total=sum("x"))` and `top_n()`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DecimalType,
    DoubleType,
    FractionalType,
    IntegralType,
    LongType,
    StructType,
)

from brookmere.errors import ExpressionError, Fault
from brookmere.names import nearest
from brookmere.run.expressions.columns import AGGREGATE, ITEM, VALUE, column
from brookmere.topology.function import Function
from brookmere.topology.operators import ShortAggregate, Top

_ONE_VALUE = {1: (VALUE,)}


@dataclass(frozen=True, slots=True)
class Folded:
    """The Columns of an aggregate: its initial value, how to add and subtract a value, and its result."""

    initial: Column
    add: Column
    subtract: Column | None
    result: Column | None
    merge: Column | None = None
    """Merges the aggregate with another one, passed as the value; exact in any order."""
    unite: Column | None = None
    """The same for two sessions, the earlier of which is the aggregate; sums may be rounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """One field that the aggregate keeps."""

    name: str
    initial: Column
    add: Column
    unite: Column
    subtract: Column | None = None
    exact: bool = False
    """Uniting gives the same in any order."""


class TypeOf:
    """Finds the type of a Column over the value."""

    def __call__(self, column: Column) -> DataType:
        raise NotImplementedError


def fold(
    shorts: Sequence[ShortAggregate], value_type: DataType, type_of: TypeOf, where: str | None
) -> Folded:
    """Return the Columns for `shorts`; `type_of` returns the type of a Column over the value."""
    kept: list[_Field] = []
    shown: list[Column] = []
    faults: list[Fault] = []
    for short in shorts:
        try:
            fields, result = _one(short, value_type, type_of, where)
        except ExpressionError as error:
            faults += error.faults
            continue
        kept += fields
        shown.append(result.alias(short.name))
    if faults:
        raise ExpressionError(faults)
    hides = [f.name for f in kept] != [s.name for s in shorts]
    return Folded(
        initial=F.struct(*[f.initial.alias(f.name) for f in kept]),
        add=F.struct(*[f.add.alias(f.name) for f in kept]),
        subtract=_struct(kept, [f.subtract for f in kept]),
        result=F.struct(*shown) if hides else None,
        merge=_struct(kept, [f.unite for f in kept]) if all(f.exact for f in kept) else None,
        unite=_struct(kept, [f.unite for f in kept]),
    )


def _struct(fields: Sequence[_Field], columns: Sequence[Column | None]) -> Column | None:
    known = [c.alias(f.name) for f, c in zip(fields, columns, strict=True) if c is not None]
    return F.struct(*known) if len(known) == len(fields) else None


def _one(
    short: ShortAggregate, value_type: DataType, type_of: TypeOf, where: str | None
) -> tuple[list[_Field], Column]:
    kept, other = F.col(AGGREGATE)[short.name], F.col(VALUE)[short.name]

    def field(initial: Column, add: Column, unite: Column, *, exact: bool = False) -> list[_Field]:
        return [_Field(name=short.name, initial=initial, add=add, unite=unite, exact=exact)]

    if short.kind == "count":
        zero = F.lit(0).cast("bigint")
        counted = _Field(
            name=short.name, initial=zero, add=kept + 1, subtract=kept - 1, unite=kept + other, exact=True
        )
        return [counted], kept
    x = _read(short, value_type, where)
    t = type_of(x)
    nothing = F.lit(None).cast(t)
    if short.kind == "sum":
        return [_sum(short.name, x, _sum_type(short, t, where))], kept
    if short.kind == "avg":
        return _average(short, x, t, where)
    if short.kind in ("min", "max"):
        best = F.least if short.kind == "min" else F.greatest
        return field(nothing, best(kept, x), best(kept, other), exact=True), kept
    if short.kind == "first":
        return field(nothing, F.coalesce(kept, x), F.coalesce(kept, other)), kept
    if short.kind == "last":
        return field(nothing, F.coalesce(x, kept), F.coalesce(other, kept)), kept
    add, unite = _collected(short, kept, other, x)
    return field(F.array().cast(f"array<{t.simpleString()}>"), add, unite), kept


def _collected(short: ShortAggregate, kept: Column, other: Column, x: Column) -> tuple[Column, Column]:
    """Return how a value goes into an array, and how two arrays become one."""
    longer = F.array_append(kept, x)
    if short.kind == "collect_list":
        return F.when(x.isNull(), kept).otherwise(longer), F.concat(kept, other)
    if short.kind == "collect_set":
        known = x.isNull() | F.array_contains(kept, x)
        return F.when(known, kept).otherwise(longer), F.array_union(kept, other)

    def best_n(values: Column) -> Column:
        return F.slice(F.sort_array(values, asc=False), 1, short.limit or 1)

    return F.when(x.isNull(), kept).otherwise(best_n(longer)), best_n(F.concat(kept, other))


def _sum(name: str, x: Column, total: DataType) -> _Field:
    kept, other = F.col(AGGREGATE)[name], F.col(VALUE)[name]
    value = x.cast(total)
    return _Field(
        name=name,
        initial=F.lit(None).cast(total),
        add=F.coalesce(kept + value, value, kept),
        subtract=F.coalesce(kept - value, kept),
        unite=F.coalesce(kept + other, other, kept),
    )


def _average(short: ShortAggregate, x: Column, t: DataType, where: str | None) -> tuple[list[_Field], Column]:
    _sum_type(short, t, where)
    total_name, count_name = f"{short.name}$sum", f"{short.name}$count"
    total, count = F.col(AGGREGATE)[total_name], F.col(AGGREGATE)[count_name]
    one = F.when(x.isNull(), 0).otherwise(1).cast("bigint")
    counted = _Field(
        name=count_name,
        initial=F.lit(0).cast("bigint"),
        add=count + one,
        subtract=count - one,
        unite=count + F.col(VALUE)[count_name],
    )
    return [_sum(total_name, x.cast("double"), DoubleType()), counted], F.when(count > 0, total / count)


def _sum_type(short: ShortAggregate, t: DataType, where: str | None) -> DataType:
    if isinstance(t, DecimalType):
        return DecimalType(min(38, t.precision + 10), t.scale)
    if isinstance(t, IntegralType):
        return LongType()
    if isinstance(t, FractionalType):
        return DoubleType()
    raise ExpressionError(
        [
            Fault(
                f"{short.kind}() of agg(), column {short.name!r}, needs a number, found {t.simpleString()}",
                where,
                "Choose a numeric field, or cast it in a lambda",
            )
        ]
    )


def _read(short: ShortAggregate, value_type: DataType, where: str | None) -> Column:
    if isinstance(short.field, Function):
        return column(short.field, _ONE_VALUE)
    name = short.field or ""
    if not isinstance(value_type, StructType):
        raise ExpressionError(
            [
                Fault(
                    f"{short.kind}({name!r}) of agg() names a field of {value_type.simpleString()}",
                    where,
                    f"Use a lambda of the value: {short.kind}(lambda value: value)",
                )
            ]
        )
    if name.split(".")[0] not in value_type.fieldNames():
        close = nearest(name, value_type.fieldNames())
        known = ", ".join(value_type.fieldNames())
        raise ExpressionError(
            [
                Fault(
                    f"{short.kind}({name!r}) of agg() names a field that is not there",
                    where,
                    f"Did you mean {close!r}?" if close else f"Known are: {known}",
                )
            ]
        )
    read = F.col(VALUE)
    for part in name.split("."):
        read = read[part]
    return read


def top(step: Top, type_of: TypeOf, *, undoable: bool) -> Folded:
    """Return the Columns of `step`: an array of values, the best first.

    An undoable aggregate keeps every row and shows the best ones.
    """
    rank = column(step.by, ITEM)
    row = F.struct(rank.alias("rank"), F.col(VALUE).alias("value"))
    empty = F.array().cast(type_of(F.array(row)))
    kept = F.col(AGGREGATE)

    def before(one: Column) -> Column:
        return (one["rank"] <= rank) if step.lowest else (one["rank"] >= rank)

    # A new row comes after those of the same rank.
    longer = F.concat(F.filter(kept, before), F.array(row), F.filter(kept, lambda one: ~before(one)))
    if not undoable:
        added = F.when(rank.isNull(), kept).otherwise(F.slice(longer, 1, step.limit))
        return Folded(empty, added, None, _values(kept))
    place = F.array_position(kept, row).cast("int")
    rest = F.size(kept) - place
    shorter = F.concat(F.slice(kept, F.lit(1), place - 1), F.slice(kept, place + 1, rest))
    # A group without rows does not exist.
    taken = F.when(place > 0, F.when(F.size(kept) > 1, shorter)).otherwise(kept)
    added = F.when(rank.isNull(), kept).otherwise(longer)
    return Folded(empty, added, taken, F.slice(_values(kept), 1, step.limit))


def _values(rows: Column) -> Column:
    return F.transform(rows, lambda one: one["value"])

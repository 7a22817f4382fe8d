"""Turns top_n() into the Columns of an aggregate: an array of values, the best first."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from brookmere.run.compile.short_aggregates import Folded, TypeOf
from brookmere.run.expressions.columns import AGGREGATE, ITEM, VALUE, column
from brookmere.topology.operators import Top


def top(step: Top, type_of: TypeOf, *, undoable: bool) -> Folded:
    """Return the Columns of `step`. One that can be undone keeps every row, and shows the best."""
    rank = column(step.by, ITEM)
    row = F.struct(rank.alias("rank"), F.col(VALUE).alias("value"))
    empty = F.array().cast(type_of(F.array(row)))
    kept = F.col(AGGREGATE)

    def before(one: Column) -> Column:
        return (one["rank"] <= rank) if step.lowest else (one["rank"] >= rank)

    # A new row stands behind those of the same rank.
    longer = F.concat(F.filter(kept, before), F.array(row), F.filter(kept, lambda one: ~before(one)))
    if not undoable:
        added = F.when(rank.isNull(), kept).otherwise(F.slice(longer, 1, step.limit))
        return Folded(empty, added, None, _values(kept))
    place = F.array_position(kept, row).cast("int")
    rest = F.size(kept) - place
    shorter = F.concat(F.slice(kept, F.lit(1), place - 1), F.slice(kept, place + 1, rest))
    # A group without rows is no group.
    taken = F.when(place > 0, F.when(F.size(kept) > 1, shorter)).otherwise(kept)
    added = F.when(rank.isNull(), kept).otherwise(longer)
    return Folded(empty, added, taken, F.slice(_values(kept), 1, step.limit))


def _values(rows: Column) -> Column:
    return F.transform(rows, lambda one: one["value"])

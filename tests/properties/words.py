"""The functions that generated programs use, by the name under which a failing example shows them.

All keys and values are text. Folds tell the order of what they saw, so that a record in the wrong place
shows, and keep only the end of it, so that texts stay short.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.topology.operators import ShortAggregate

Function = Callable[..., Any]


def _nothing() -> Column:
    return F.lit(None).cast("string")


def _first(value: Column) -> Column:
    return F.substring(value, 1, 1)


def _end(text: Column) -> Column:
    return F.substring(text, -8, 8)


def _told(key: Column, value: Column) -> Column:
    return F.concat(F.coalesce(key, F.lit("_")), F.lit(":"), F.coalesce(value, F.lit("_")))


TESTS: Mapping[str, Function] = {
    "has a": lambda value: value.contains("a"),
    "has b": lambda key, value: value.contains("b"),
    "is null": lambda value: value.isNull(),
    "key is a": lambda key, value: key == "a",
    "key has b": lambda key, value: F.coalesce(key, F.lit("b")).contains("b"),
}

VALUES: Mapping[str, Function] = {
    "first": _first,
    "with key": lambda key, value: _end(_told(key, value)),
    "null unless a": lambda value: F.when(value.contains("a"), value),
    "reverse": lambda value: F.reverse(value),
    "x": lambda value: F.lit("x"),
}

KEYS: Mapping[str, Function] = {
    "first or -": lambda key, value: F.coalesce(_first(value), F.lit("-")),
    "key or -": lambda key, value: F.coalesce(key, F.lit("-")),
    "same": lambda key, value: F.lit("same"),
    "first": lambda key, value: _first(value),
    "key": lambda key, value: key,
    "null": lambda key, value: _nothing(),
}
NEVER_NULL = ("first or -", "key or -", "same")

FLAT_VALUES: Mapping[str, Function] = {
    "words": lambda value: F.split(value, " "),
    "twice": lambda key, value: F.array(value, _end(_told(key, value))),
    "null too": lambda value: F.array(value, _nothing()),
}

FLAT_PAIRS: Mapping[str, Function] = {
    "word, key": lambda key, value: F.transform(
        F.split(value, " "),
        lambda word: F.struct(word.alias("key"), F.coalesce(key, F.lit("-")).alias("value")),
    ),
    "key, value and value, key": lambda key, value: F.array(
        F.struct(key.alias("key"), value.alias("value")), F.struct(value.alias("key"), key.alias("value"))
    ),
}

FOLDS: Mapping[str, Callable[[Column, Column], Column]] = {
    "append": lambda folded, value: _end(F.concat(folded, value)),
    "keep": lambda folded, value: folded,
    "max": lambda folded, value: F.greatest(folded, value),
    "null at b": lambda folded, value: F.when(value != "b", _end(F.concat(folded, value))),
}

UNDOES: Mapping[str, Callable[[Column, Column], Column]] = {
    "append -": lambda folded, value: _end(F.concat(folded, F.lit("-"), value)),
    "keep": lambda folded, value: folded,
    "null": lambda folded, value: _nothing(),
}

SHORTS: Mapping[str, Callable[[], ShortAggregate]] = {
    "n": bm.count,
    "size": lambda: bm.sum(lambda value: F.length(value)),
    "mean": lambda: bm.avg(lambda value: F.length(value)),
    "low": lambda: bm.min(lambda value: value),
    "begin": lambda: bm.first(lambda value: value),
    "set": lambda: bm.collect_set(lambda value: value),
    "top": lambda: bm.top_n(lambda value: value, 2),
}
UNDOABLE = ("n", "size", "mean")

TOPICS: Mapping[str, Function] = {
    "routed by a": lambda key, value: F.when(value.contains("a"), "routed-a").otherwise("routed-b"),
}
ROUTED = ("routed-a", "routed-b")


def pair(key: str, value: str) -> Function:
    """Return the function of a map, or of the grouping of a table."""
    keys, values = KEYS[key], VALUES[value]
    one = values.__code__.co_argcount == 1
    return lambda k, v: (keys(k, v), values(v) if one else values(k, v))


def step(fold: str) -> Function:
    """Return the step of an aggregate: a fold with the order of its parameters changed."""
    folding = FOLDS[fold]
    return lambda value, folded: folding(folded, value)


def undo(fold: str) -> Function:
    """Return the subtractor of an aggregate; it gets the key, too."""
    folding = UNDOES[fold]
    return lambda key, value, folded: folding(folded, value)

"""Turns the words of a scenario (functions, tests, folds, joiners) into lambdas over Columns.

Every word works on text, as it did when the scenarios were recorded, so each lambda first casts
what it is given: a count, for example, reads as a decimal number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

KeyValueFunction = Callable[[Column, Column], Any]
Fold = Callable[[Column, Column], Any]

_WHOLE_NUMBER = r"\A[+-]?[0-9]+\z"


class UnknownWordError(ValueError):
    """A scenario uses a word that has no meaning here."""


def text(column: Column) -> Column:
    """Return a key or value as the text that a scenario writes for it."""
    return column.cast("string")


def windowed_text(key: Column) -> Column:
    """Return a key with its window as the text that a scenario writes for it."""
    start, end = (key[bound].cast("string") for bound in ("start", "end"))
    return F.concat(text(key["key"]), F.lit("@"), start, F.lit("/"), end)


def nothing() -> Column:
    """Return a null with the type of a text."""
    return F.lit(None).cast("string")


def number(column: Column) -> Column:
    """Return the whole number that a text spells, 0 if it spells none or is null."""
    spelled = F.when(column.rlike(_WHOLE_NUMBER), column.try_cast("bigint"))
    return F.coalesce(spelled, F.lit(0).cast("bigint"))


def words_of(column: Column, separator: str = " ") -> Column:
    """Split a text at single separators and leave out the empty texts at the end."""
    trimmed = F.regexp_replace(column, f"{separator}+\\z", "")
    return (
        F.when(column == "", F.array(F.lit("")))
        .when(trimmed == "", F.array().cast("array<string>"))
        .otherwise(F.split(trimmed, separator, -1))
    )


def split_spec(spec: str, otherwise: str = "") -> tuple[str, str]:
    """Take `word|argument` apart."""
    word, bar, argument = spec.partition("|")
    return word, argument if bar else otherwise


def function(spec: str) -> KeyValueFunction:
    """Return the function of (key, value) that gives a text or null."""
    word, argument = split_spec(spec)
    try:
        make = _FUNCTIONS[word]
    except KeyError:
        raise UnknownWordError(f"function {spec}") from None
    return lambda key, value: make(text(key), text(value), argument)


def pair(key_spec: str, value_spec: str) -> KeyValueFunction:
    """Return the function of (key, value) that gives a new key and a new value."""
    new_key, new_value = function(key_spec), function(value_spec)
    return lambda key, value: (new_key(key, value), new_value(key, value))


def test(spec: str) -> KeyValueFunction:
    """Return the predicate of (key, value)."""
    word, argument = split_spec(spec)
    try:
        make = _TESTS[word]
    except KeyError:
        raise UnknownWordError(f"test {spec}") from None
    return lambda key, value: make(text(key), text(value), argument)


def fold(spec: str) -> Fold:
    """Return the function of (aggregate, value) that gives the next aggregate."""
    word, argument = split_spec(spec, FOLD_ARGUMENTS.get(spec, ""))
    try:
        make = _FOLDS[word]
    except KeyError:
        raise UnknownWordError(f"fold {spec}") from None
    return lambda aggregate, value: make(text(aggregate), text(value), argument)


def joiner(spec: str) -> Callable[[Column, Column, Column], Column]:
    """Return the function of (key, left, right) that gives the joined value."""
    try:
        make = _JOINERS[spec]
    except KeyError:
        raise UnknownWordError(f"joiner {spec}") from None
    return lambda key, left, right: make(text(key), text(left), text(right))


def split_value(value: Column) -> Column:
    """Return the words of a value as an array; a null has none."""
    return F.when(value.isNull(), F.array().cast("array<string>")).otherwise(words_of(text(value)))


def split_into_pairs(key: Column, value: Column) -> Column:
    """Return a record (word, old key) for each word of the value."""
    old_key = text(key)
    return F.transform(split_value(value), lambda word: F.struct(word.alias("key"), old_key.alias("value")))


def suffix_time(key: Column, value: Column, timestamp: Column) -> Column:
    """Return the number after the first colon of the value, the record's own time if there is none."""
    suffix = _suffix(text(key), text(value), "")
    return F.coalesce(F.when(suffix.rlike(_WHOLE_NUMBER), suffix.try_cast("bigint")), timestamp)


def topic_name(spec: str, prefix: str) -> KeyValueFunction:
    """Return the function of (key, value) that gives the topic a record goes to."""
    chosen = function(spec)
    return lambda key, value: F.concat(F.lit(prefix), _told(_column(chosen(key, value))))


def _column(result: Any) -> Column:
    return result if isinstance(result, Column) else F.lit(result)


def _told(column: Column) -> Column:
    # Where text is put together, null becomes the word null.
    return F.coalesce(column, F.lit("null"))


def _is(column: Column, literal: str) -> Column:
    return column.eqNullSafe(F.lit(literal))


def _prefix(key: Column, value: Column, argument: str) -> Column:
    return F.when(value.contains(":"), F.substring_index(value, ":", 1))


def _suffix(key: Column, value: Column, argument: str) -> Column:
    after = F.substr(value, F.instr(value, ":") + F.lit(1))
    return F.when(value.contains(":"), after).otherwise(value)


def _fail_on(key: Column, value: Column, argument: str) -> Column:
    failure = F.raise_error(F.lit(f"told to fail on {argument}")).cast("string")
    return F.when(_is(value, argument), failure).otherwise(value)


def _window_start(key: Column, value: Column, argument: str) -> Column:
    bounds = F.substr(key, F.instr(key, "@") + F.lit(1))
    return F.when(key.contains("@"), F.regexp_extract(bounds, "(?s)\\A(.*)/", 1))


_FUNCTIONS: dict[str, Callable[[Column, Column, str], Any]] = {
    "value": lambda k, v, a: v,
    "key": lambda k, v, a: k,
    "const": lambda k, v, a: a,
    "null": lambda k, v, a: nothing(),
    "upper": lambda k, v, a: F.upper(v),
    "append": lambda k, v, a: F.concat(v, F.lit(a)),
    "with_key": lambda k, v, a: F.concat(_told(k), F.lit("="), v),
    "length": lambda k, v, a: text(F.length(v)),
    "prefix": _prefix,
    "suffix": _suffix,
    "first_char": lambda k, v, a: F.when(F.length(v) > 0, F.substring(v, 1, 1)),
    "null_if": lambda k, v, a: F.when(~_is(v, a), v),
    "or": lambda k, v, a: F.coalesce(v, F.lit(a)),
    "fail_on": _fail_on,
    "strip_window": lambda k, v, a: F.substring_index(k, "@", 1),
    "window_start": _window_start,
}

_TESTS: dict[str, Callable[[Column, Column, str], Any]] = {
    "contains": lambda k, v, a: F.coalesce(v.contains(F.lit(a)), F.lit(False)),
    "starts_with": lambda k, v, a: F.coalesce(v.startswith(F.lit(a)), F.lit(False)),
    "key_is": lambda k, v, a: _is(k, a),
    "not_null": lambda k, v, a: v.isNotNull(),
    "key_not_null": lambda k, v, a: k.isNotNull(),
    "longer_than": lambda k, v, a: F.coalesce(F.length(v) > int(a), F.lit(False)),
    "at_least": lambda k, v, a: v.isNotNull() & (number(v) >= int(a)),
    "always": lambda k, v, a: True,
    "never": lambda k, v, a: False,
}


def _greater(g: Column, v: Column, argument: str) -> Column:
    return F.when(g.isNull() | (v.isNotNull() & (v > g)), v).otherwise(g)


def _smaller(g: Column, v: Column, argument: str) -> Column:
    return F.when(g.isNull() | (v.isNotNull() & (v < g)), v).otherwise(g)


def _diff_null_at_zero(g: Column, v: Column, argument: str) -> Column:
    return F.when(number(g) != number(v), text(number(g) - number(v)))


def _joined_text(*parts: Column) -> Column:
    return F.concat_ws(",", *[text(part) for part in parts])


def _stats(g: Column, v: Column, argument: str) -> Column:
    # The aggregate is count,min,max,sum.
    parts, value = words_of(g, ","), number(v)
    count, least, most, total = (number(F.element_at(parts, place)) for place in (1, 2, 3, 4))
    afresh = _joined_text(F.lit(1), value, value, value)
    onwards = _joined_text(count + 1, F.least(least, value), F.greatest(most, value), total + value)
    return F.when(g.isNull() | (g == ""), afresh).otherwise(onwards)


def _items(g: Column) -> Column:
    return F.when(g.isNull() | (g == ""), F.array().cast("array<string>")).otherwise(words_of(g, ","))


def _top(g: Column, v: Column, argument: str) -> Column:
    added = F.when(v.isNull(), _items(g)).otherwise(F.concat(_items(g), F.array(v)))
    return F.array_join(F.slice(F.sort_array(added, asc=False), 1, int(argument)), ",")


def _without(g: Column, v: Column, argument: str) -> Column:
    items = _items(g)
    place = F.coalesce(F.array_position(items, v), F.lit(0))
    return F.array_join(F.filter(items, lambda item, at: at + 1 != place), ",")


FOLD_ARGUMENTS = {"concat": "+", "top": "3"}

_FOLDS: dict[str, Callable[[Column, Column, str], Any]] = {
    "concat": lambda g, v, a: F.concat(_told(g), F.lit(a), _told(v)),
    "last": lambda g, v, a: v,
    "keep": lambda g, v, a: g,
    "max": _greater,
    "min": _smaller,
    "sum": lambda g, v, a: text(number(g) + number(v)),
    "diff": lambda g, v, a: text(number(g) - number(v)),
    "diff_null_at_zero": _diff_null_at_zero,
    "delete_on": lambda g, v, a: F.when(~_is(v, a), F.concat(_told(g), F.lit("+"), _told(v))),
    "stats": _stats,
    "top": _top,
    "without": _without,
}

_JOINERS: dict[str, Callable[[Column, Column, Column], Column]] = {
    "slash": lambda k, left, right: F.concat(_told(left), F.lit("/"), _told(right)),
    "left": lambda k, left, right: left,
    "right": lambda k, left, right: right,
    "with_key": lambda k, left, right: F.concat(_told(k), F.lit("="), _told(left), F.lit("/"), _told(right)),
}

"""Turns the words of a scenario (functions, tests, folds) into plain Python functions of texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import brookmere as bm
from tests.conformance.words import FOLD_ARGUMENTS, UnknownWordError, split_spec

Text = str | None
KeyValueFunction = Callable[[Any, Any], Any]
Fold = Callable[[Any, Any], Text]

_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def text(value: Any) -> Text:
    """Return a key or value as the text that a scenario writes for it."""
    if isinstance(value, bm.WindowedKey):
        return f"{text(value.key)}@{value.start}/{value.end}"
    return None if value is None else str(value)


def told(value: Any) -> str:
    """Return the text of a value; where text is put together, null becomes the word null."""
    found = text(value)
    return "null" if found is None else found


def number(spelled: Text) -> int:
    """Return the whole number of 64 bits that a text spells, 0 if it spells none or is null."""
    if spelled is None or not _WHOLE_NUMBER.fullmatch(spelled):
        return 0
    found = int(spelled)
    return found if -(2**63) <= found < 2**63 else 0


def words_of(value: str, separator: str = " ") -> list[str]:
    """Split a text at single separators and leave out the empty texts at the end."""
    found = value.split(separator)
    while len(found) > 1 and not found[-1]:
        found.pop()
    return [] if value and found == [""] else found


def function(spec: str) -> KeyValueFunction:
    """Return the function of (key, value) that gives a text or null."""
    make, argument = _known("function", _FUNCTIONS, *split_spec(spec))
    return lambda key, value: make(text(key), text(value), argument)


def pair(key_spec: str, value_spec: str) -> KeyValueFunction:
    """Return the function of (key, value) that gives a new key and a new value."""
    new_key, new_value = function(key_spec), function(value_spec)
    return lambda key, value: (new_key(key, value), new_value(key, value))


def test(spec: str) -> KeyValueFunction:
    """Return the predicate of (key, value)."""
    make, argument = _known("test", _TESTS, *split_spec(spec))
    return lambda key, value: make(text(key), text(value), argument)


def fold(spec: str) -> Fold:
    """Return the function of (aggregate, value) that gives the next aggregate."""
    make, argument = _known("fold", _FOLDS, *split_spec(spec, FOLD_ARGUMENTS.get(spec, "")))
    return lambda aggregate, value: make(text(aggregate), text(value), argument)


def split_value(value: Any) -> list[str]:
    """Return the words of a value; a null has none."""
    found = text(value)
    return [] if found is None else words_of(found)


def split_into_pairs(key: Any, value: Any) -> list[tuple[str, Text]]:
    """Return a record (word, old key) for each word of the value."""
    return [(word, text(key)) for word in split_value(value)]


def _known(kind: str, known: dict[str, Any], word: str, argument: str) -> tuple[Any, str]:
    if word not in known:
        raise UnknownWordError(f"{kind} {word}")
    return known[word], argument


def _prefix(key: Text, value: Text, argument: str) -> Text:
    return value.partition(":")[0] if value is not None and ":" in value else None


def _suffix(key: Text, value: Text, argument: str) -> Text:
    return value.partition(":")[2] if value is not None and ":" in value else value


def _fail_on(key: Text, value: Text, argument: str) -> Text:
    if value == argument:
        raise ValueError(f"told to fail on {argument}")
    return value


def _window_start(key: Text, value: Text, argument: str) -> Text:
    return None if key is None or "@" not in key else key.partition("@")[2].rpartition("/")[0]


_FUNCTIONS: dict[str, Callable[[Text, Text, str], Text]] = {
    "value": lambda k, v, a: v,
    "key": lambda k, v, a: k,
    "const": lambda k, v, a: a,
    "null": lambda k, v, a: None,
    "upper": lambda k, v, a: None if v is None else v.upper(),
    "append": lambda k, v, a: None if v is None else v + a,
    "with_key": lambda k, v, a: None if v is None else f"{told(k)}={v}",
    "length": lambda k, v, a: None if v is None else str(len(v)),
    "prefix": _prefix,
    "suffix": _suffix,
    "first_char": lambda k, v, a: v[0] if v else None,
    "null_if": lambda k, v, a: None if v == a else v,
    "or": lambda k, v, a: a if v is None else v,
    "fail_on": _fail_on,
    "strip_window": lambda k, v, a: None if k is None else k.partition("@")[0],
    "window_start": _window_start,
}

_TESTS: dict[str, Callable[[Text, Text, str], bool]] = {
    "contains": lambda k, v, a: v is not None and a in v,
    "starts_with": lambda k, v, a: v is not None and v.startswith(a),
    "key_is": lambda k, v, a: k == a,
    "not_null": lambda k, v, a: v is not None,
    "key_not_null": lambda k, v, a: k is not None,
    "longer_than": lambda k, v, a: v is not None and len(v) > int(a),
    "at_least": lambda k, v, a: v is not None and number(v) >= int(a),
    "always": lambda k, v, a: True,
    "never": lambda k, v, a: False,
}


def _stats(g: Text, v: Text, argument: str) -> str:
    value = number(v)
    if not g:
        return f"1,{value},{value},{value}"
    count, least, most, total = (number(part) for part in g.split(","))
    return f"{count + 1},{min(least, value)},{max(most, value)},{total + value}"


def _items(g: Text) -> list[str]:
    return words_of(g, ",") if g else []


def _top(g: Text, v: Text, argument: str) -> str:
    added = _items(g) if v is None else [*_items(g), v]
    return ",".join(sorted(added, reverse=True)[: int(argument)])


def _without(g: Text, v: Text, argument: str) -> str:
    items = _items(g)
    if v in items:
        items.remove(v)
    return ",".join(items)


_FOLDS: dict[str, Callable[[Text, Text, str], Text]] = {
    "concat": lambda g, v, a: told(g) + a + told(v),
    "last": lambda g, v, a: v,
    "keep": lambda g, v, a: g,
    "max": lambda g, v, a: v if g is None or (v is not None and v > g) else g,
    "min": lambda g, v, a: v if g is None or (v is not None and v < g) else g,
    "sum": lambda g, v, a: str(number(g) + number(v)),
    "diff": lambda g, v, a: str(number(g) - number(v)),
    "diff_null_at_zero": lambda g, v, a: str(number(g) - number(v)) if number(g) != number(v) else None,
    "delete_on": lambda g, v, a: None if v == a else f"{told(g)}+{told(v)}",
    "stats": _stats,
    "top": _top,
    "without": _without,
}

"""The functions of generated programs once more, as Python functions that do what the Columns do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import brookmere as bm
from tests.properties.words import ROUTED, SHORTS, TOPICS

__all__ = [
    "FLAT_PAIRS", "FLAT_VALUES", "FOLDS", "KEYS", "ROUTED", "SHORTS", "TESTS", "TOPICS", "UNDOES", "VALUES",
    "pair", "step", "undo",
]  # fmt: skip

Text = str | None
Function = Callable[..., Any]


def _first(value: Text) -> Text:
    return None if value is None else value[:1]


def _end(text: Text) -> Text:
    return None if text is None else text[-8:]


def _told(key: Text, value: Text) -> str:
    return f"{'_' if key is None else key}:{'_' if value is None else value}"


def _joined(*parts: Text) -> Text:
    """Return the end of all texts together; null if one of them is."""
    given = [part for part in parts if part is not None]
    return _end("".join(given)) if len(given) == len(parts) else None


def _words(value: Text) -> list[str]:
    return [] if value is None else value.split(" ")


def _texts(functions: Mapping[str, Function]) -> Mapping[str, Any]:
    return {name: bm.python(function, returns=str) for name, function in functions.items()}


def _pairs(functions: Mapping[str, Function]) -> Mapping[str, Any]:
    return {name: bm.python(function, returns=(str, str)) for name, function in functions.items()}


_KEYS: Mapping[str, Callable[[Text, Text], Text]] = {
    "first or -": lambda key, value: "-" if value is None else value[:1],
    "key or -": lambda key, value: "-" if key is None else key,
    "same": lambda key, value: "same",
    "first": lambda key, value: _first(value),
    "key": lambda key, value: key,
    "null": lambda key, value: None,
}

_VALUES: Mapping[str, Callable[[Text, Text], Text]] = {
    "first": lambda key, value: _first(value),
    "with key": lambda key, value: _end(_told(key, value)),
    "null unless a": lambda key, value: value if value is not None and "a" in value else None,
    "reverse": lambda key, value: None if value is None else value[::-1],
    "x": lambda key, value: "x",
}

_FOLDS: Mapping[str, Callable[[Text, Text], Text]] = {
    "append": lambda folded, value: _joined(folded, value),
    "keep": lambda folded, value: folded,
    "max": lambda folded, value: max((t for t in (folded, value) if t is not None), default=None),
    "null at b": lambda folded, value: None if value is None or value == "b" else _joined(folded, value),
}

_UNDOES: Mapping[str, Callable[[Text, Text], Text]] = {
    "append -": lambda folded, value: _joined(folded, "-", value),
    "keep": lambda folded, value: folded,
    "null": lambda folded, value: None,
}

TESTS: Mapping[str, Any] = {
    "has a": bm.python(lambda value: value is not None and "a" in value),
    "has b": bm.python(lambda key, value: value is not None and "b" in value),
    "is null": bm.python(lambda value: value is None),
    "key is a": bm.python(lambda key, value: key == "a"),
    "key has b": bm.python(lambda key, value: key is None or "b" in key),
}
KEYS = _texts(_KEYS)
VALUES = _texts(_VALUES)
FOLDS = _texts(_FOLDS)
UNDOES = _texts(_UNDOES)
FLAT_VALUES = _texts(
    {
        "words": lambda value: _words(value),
        "twice": lambda key, value: [value, _end(_told(key, value))],
        "null too": lambda value: [value, None],
    }
)
FLAT_PAIRS = _pairs(
    {
        "word, key": lambda key, value: [(word, "-" if key is None else key) for word in _words(value)],
        "key, value and value, key": lambda key, value: [(key, value), (value, key)],
    }
)


def pair(key: str, value: str) -> Any:
    """Return the function of a map, or of the grouping of a table."""
    keys, values = _KEYS[key], _VALUES[value]
    return bm.python(lambda k, v: (keys(k, v), values(k, v)), returns=(str, str))


def step(fold: str) -> Any:
    """Return the step of an aggregate."""
    folding = _FOLDS[fold]
    return bm.python(lambda value, folded: folding(folded, value), returns=str)


def undo(fold: str) -> Any:
    """Return the subtractor of an aggregate; it gets the key, too."""
    folding = _UNDOES[fold]
    return bm.python(lambda key, value, folded: folding(folded, value), returns=str)

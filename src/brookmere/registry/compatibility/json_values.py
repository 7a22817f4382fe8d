"""What the values of a JSON Schema can be: types, listed values and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from brookmere.registry.schemas.json.nodes import Node

# Numbers are integers or fractions, so that an integer is also a number.
EVERY = frozenset(("null", "boolean", "integer", "fraction", "string", "array", "object"))
NUMBERS = frozenset(("integer", "fraction"))

Parts = tuple[Node, ...]
"""Schemas that all apply to the same value."""


def types_named(given: str | list[str]) -> frozenset[str]:
    """Return the types that the keyword `type` allows."""
    listed = [given] if isinstance(given, str) else given
    return frozenset(
        one for word in listed for one in (("integer", "fraction") if word == "number" else (word,))
    )


def type_of(value: Any) -> str:
    """Return the type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if value == int(value) else "fraction"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def types(parts: Parts) -> frozenset[str]:
    """Return the types that values of all these schemas can have."""
    found = EVERY
    for part in parts:
        if "type" in part.tree:
            found &= types_named(part.tree["type"])
    known = values(parts)
    return found if known is None else found & {type_of(value) for value in known}


def values(parts: Parts) -> list[Any] | None:
    """Return the possible values if they are listed, otherwise None."""
    lists = [_listed(part.tree) for part in parts]
    given = [one for one in lists if one is not None]
    if not given:
        return None
    return [value for value in given[0] if all(_among(value, other) for other in given[1:])]


def among(value: Any, allowed: Iterable[Any]) -> bool:
    """Return whether a JSON value is one of those allowed; true does not equal 1 here."""
    return _among(value, allowed)


def lower(
    parts: Iterable[Any], word: str = "minimum", exclusive: str = "exclusiveMinimum"
) -> tuple[float, bool] | None:
    """Return the highest lower bound among trees, and whether it is exclusive."""
    bounds = [bound for tree in parts for bound in _bounds(tree, word, exclusive)]
    return max(bounds) if bounds else None


def upper(parts: Iterable[Any]) -> tuple[float, bool] | None:
    """Return the lowest upper bound among trees, and whether it is exclusive."""
    bounds = [bound for tree in parts for bound in _bounds(tree, "maximum", "exclusiveMaximum")]
    return min(bounds, key=lambda bound: (bound[0], not bound[1])) if bounds else None


def largest(parts: Sequence[Node], word: str) -> float | None:
    """Return the largest number that a keyword has in several schemas."""
    return max((part.tree[word] for part in parts if word in part.tree), default=None)


def smallest(parts: Sequence[Node], word: str) -> float | None:
    """Return the smallest number that a keyword has in several schemas."""
    return min((part.tree[word] for part in parts if word in part.tree), default=None)


def _bounds(tree: Any, word: str, exclusive: str) -> list[tuple[float, bool]]:
    given = tree.get(exclusive)
    found = []
    if word in tree:
        found.append((tree[word], given is True))
    if given is not None and not isinstance(given, bool):
        found.append((given, True))
    return found


def _listed(tree: Any) -> list[Any] | None:
    if "const" in tree:
        return [tree["const"]]
    listed = tree.get("enum")
    return listed if isinstance(listed, list) else None


def _among(value: Any, allowed: Iterable[Any]) -> bool:
    return any(type_of(value) == type_of(one) and value == one for one in allowed)

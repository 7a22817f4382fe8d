"""Compatibility of numbers and strings in JSON Schema."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from brookmere.registry.compatibility.json_values import (
    NUMBERS,
    Parts,
    largest,
    lower,
    smallest,
    type_of,
    types,
    upper,
    values,
)
from brookmere.registry.schemas.json.nodes import Node


def scalar_differences(writer: Parts, reader: Node, path: str) -> list[str]:
    """Compare the bounds of numbers, and the lengths and formats of strings."""
    kinds = types(writer)
    reasons: list[str] = []
    if kinds & NUMBERS:
        reasons += _numbers(writer, reader)
    if "string" in kinds:
        reasons += _texts(writer, reader)
    return [f"{path}: {reason}" if path else reason for reason in reasons]


def _numbers(writer: Parts, reader: Node) -> list[str]:
    known = _known(writer, NUMBERS)
    trees = [part.tree for part in writer]
    reasons: list[str] = []
    low = lower([reader.tree])
    if low is not None:
        bound = lower(trees) if known is None else min(((value, False) for value in known), default=low)
        if bound is None or bound < low:
            reasons.append(f"numbers must now be {'more than' if low[1] else 'at least'} {low[0]}")
    high = upper([reader.tree])
    if high is not None:
        bound = upper(trees) if known is None else max(((value, False) for value in known), default=high)
        if bound is None or (-bound[0], bound[1]) < (-high[0], high[1]):
            reasons.append(f"numbers must now be {'less than' if high[1] else 'at most'} {high[0]}")
    step = reader.tree.get("multipleOf")
    if step is not None and not _multiples(writer, step, known):
        reasons.append(f"numbers must now be multiples of {step}")
    return reasons


def _multiples(writer: Parts, step: float, known: list[Any] | None) -> bool:
    if known is not None:
        return all(_is_multiple(value, step) for value in known)
    steps = [part.tree["multipleOf"] for part in writer if "multipleOf" in part.tree]
    if "fraction" not in types(writer):
        steps.append(1)
    return any(_is_multiple(one, step) for one in steps)


def _is_multiple(value: float, step: float) -> bool:
    return (Fraction(str(value)) / Fraction(str(step))).denominator == 1


def _texts(writer: Parts, reader: Node) -> list[str]:
    known = _known(writer, frozenset(("string",)))
    tree = reader.tree
    reasons: list[str] = []
    if "minLength" in tree:
        shortest = (
            largest(writer, "minLength") if known is None else min(map(len, known), default=tree["minLength"])
        )
        if (shortest or 0) < tree["minLength"]:
            reasons.append(f"strings must now have at least {tree['minLength']} characters")
    if "maxLength" in tree:
        longest = smallest(writer, "maxLength") if known is None else max(map(len, known), default=0)
        if longest is None or longest > tree["maxLength"]:
            reasons.append(f"strings must now have at most {tree['maxLength']} characters")
    if "pattern" in tree and not _patterned(writer, tree["pattern"], known):
        reasons.append(f"strings must now match {tree['pattern']!r}")
    for word in ("format", "contentEncoding", "contentMediaType"):
        if word in tree and not any(part.tree.get(word) == tree[word] for part in writer):
            reasons.append(f"strings must now have the {word} {tree[word]!r}")
    return reasons


def _patterned(writer: Parts, pattern: str, known: list[Any] | None) -> bool:
    if any(part.tree.get("pattern") == pattern for part in writer):
        return True
    if known is None:
        return False
    try:
        return all(re.search(pattern, value) for value in known)
    except re.error:
        return False


def _known(writer: Parts, kinds: frozenset[str]) -> list[Any] | None:
    listed = values(writer)
    return None if listed is None else [value for value in listed if type_of(value) in kinds]

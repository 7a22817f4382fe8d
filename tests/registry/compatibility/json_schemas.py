"""Generates JSON Schemas and values, and validates values with an independent validator."""

from __future__ import annotations

import re
from fractions import Fraction
from random import Random
from typing import Any

WORDS = ("null", "boolean", "integer", "number", "string", "array", "object")
NAMES = ("a", "b", "c")
SCALARS: tuple[Any, ...] = (None, True, False, 0, 1, 2, 3, 5, -1, 0.5, 1.5, "", "x", "xy", "yyyy", "aa")


class Making:
    """Chooses by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def schema(self, depth: int) -> Any:
        if self.chance(6):
            return self.chance(70)
        made: dict[str, Any] = {}
        if self.chance(70):
            words = self.random.sample(WORDS, 2 if self.chance(20) else 1)
            made["type"] = words if len(words) > 1 or self.chance(10) else words[0]
        for word in self.random.sample(sorted(_MAKERS), self.random.choice((0, 0, 1, 1, 2, 3))):
            made[word] = _MAKERS[word](self, depth)
        if depth > 0 and self.chance(60):
            for word in self.random.sample(sorted(_DEEP), self.random.choice((1, 1, 2, 3))):
                made[word] = _DEEP[word](self, depth - 1)
        return made

    def changed(self, schema: Any, depth: int) -> Any:
        """Return another schema that is like this one, and sometimes allows more."""
        if self.chance(8) or isinstance(schema, bool):
            return self.schema(depth) if self.chance(50) else schema
        other = dict(schema)
        for word in list(other):
            if self.chance(25):
                del other[word]
            elif word == "properties":
                other[word] = {name: self.changed(one, depth - 1) for name, one in other[word].items()}
            elif word in ("anyOf", "oneOf", "allOf"):
                other[word] = [self.changed(one, depth - 1) for one in other[word]]
                if self.chance(30):
                    other[word].append(self.schema(max(depth - 1, 0)))
            elif word in ("items", "additionalProperties"):
                other[word] = self.changed(other[word], depth - 1)
            elif word in _MAKERS and self.chance(30):
                other[word] = _MAKERS[word](self, depth)
        return other

    def value(self, depth: int = 2) -> Any:
        kind = self.random.choice(("scalar", "scalar", "array", "object", "object")) if depth else "scalar"
        if kind == "array":
            return [self.value(depth - 1) for _ in range(self.random.randrange(3))]
        if kind == "object":
            return {name: self.value(depth - 1) for name in (*NAMES, "d") if self.chance(50)}
        return self.random.choice(SCALARS)


_MAKERS: dict[str, Any] = {
    "enum": lambda m, _: m.random.sample(SCALARS, m.random.choice((1, 2, 4))),
    "const": lambda m, _: m.random.choice(SCALARS),
    "minimum": lambda m, _: m.random.choice((-1, 0, 1)),
    "maximum": lambda m, _: m.random.choice((1, 2, 5)),
    "exclusiveMinimum": lambda m, _: m.random.choice((-1, 0)),
    "exclusiveMaximum": lambda m, _: m.random.choice((2, 5)),
    "multipleOf": lambda m, _: m.random.choice((0.5, 1, 2)),
    "minLength": lambda m, _: m.random.choice((0, 1, 2)),
    "maxLength": lambda m, _: m.random.choice((1, 2, 4)),
    "pattern": lambda m, _: m.random.choice(("^x", "y$")),
    "minItems": lambda m, _: m.random.choice((0, 1)),
    "maxItems": lambda m, _: m.random.choice((1, 2)),
    "uniqueItems": lambda m, _: m.chance(70),
    "required": lambda m, _: m.random.sample(NAMES, m.random.choice((0, 1, 2))),
    "minProperties": lambda m, _: m.random.choice((0, 1, 2)),
    "maxProperties": lambda m, _: m.random.choice((1, 2, 3)),
}
_DEEP: dict[str, Any] = {
    "properties": lambda m, d: {name: m.schema(d) for name in NAMES if m.chance(60)},
    "patternProperties": lambda m, d: {m.random.choice(("^a", "[bc]", "d")): m.schema(d)},
    "additionalProperties": lambda m, d: False if m.chance(60) else m.schema(d),
    "items": lambda m, d: m.schema(d),
    "prefixItems": lambda m, d: [m.schema(d) for _ in range(m.random.choice((1, 2)))],
    "anyOf": lambda m, d: [m.schema(d) for _ in range(m.random.choice((1, 2, 3)))],
    "oneOf": lambda m, d: [m.schema(d) for _ in range(m.random.choice((1, 2, 3)))],
    "allOf": lambda m, d: [m.schema(d) for _ in range(m.random.choice((1, 2)))],
    "not": lambda m, d: m.schema(d),
    "contains": lambda m, d: m.schema(d),
    "propertyNames": lambda m, d: m.schema(0),
}


def fits(value: Any, schema: Any, root: Any = None) -> bool:
    """Tell whether a value fits a schema, by the words that are made here and `$ref` to the root."""
    root = schema if root is None else root
    if isinstance(schema, bool):
        return schema
    if schema.get("$ref") == "#" and not fits(value, root, root):
        return False
    return all(_CHECKS[word](value, given, schema, root) for word, given in schema.items() if word in _CHECKS)


def _is(value: Any, word: str) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "null": value is None,
        "boolean": isinstance(value, bool),
        "integer": number and value == int(value),
        "number": number,
        "string": isinstance(value, str),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
    }[word]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _for(word: str, check: Any) -> Any:
    return lambda value, given, schema, root: not _is(value, word) or check(value, given, schema, root)


def _items(value: Any, given: Any, schema: Any, root: Any) -> bool:
    return all(fits(one, given, root) for one in value[len(schema.get("prefixItems", ())) :])


def _additional(value: Any, given: Any, schema: Any, root: Any) -> bool:
    patterns = schema.get("patternProperties", {})
    return all(
        fits(one, given, root)
        for name, one in value.items()
        if name not in schema.get("properties", {}) and not any(re.search(p, name) for p in patterns)
    )


def _patterns(value: Any, given: Any, schema: Any, root: Any) -> bool:
    return all(
        fits(one, inner, root)
        for pattern, inner in given.items()
        for name, one in value.items()
        if re.search(pattern, name)
    )


_CHECKS: dict[str, Any] = {
    "type": lambda v, g, *_: any(_is(v, word) for word in ([g] if isinstance(g, str) else g)),
    "enum": lambda v, g, *_: any(_same(v, one) for one in g),
    "const": lambda v, g, *_: _same(v, g),
    "minimum": _for("number", lambda v, g, *_: v >= g),
    "maximum": _for("number", lambda v, g, *_: v <= g),
    "exclusiveMinimum": _for("number", lambda v, g, *_: v > g),
    "exclusiveMaximum": _for("number", lambda v, g, *_: v < g),
    "multipleOf": _for("number", lambda v, g, *_: (Fraction(v) / Fraction(g)).denominator == 1),
    "minLength": _for("string", lambda v, g, *_: len(v) >= g),
    "maxLength": _for("string", lambda v, g, *_: len(v) <= g),
    "pattern": _for("string", lambda v, g, *_: re.search(g, v) is not None),
    "minItems": _for("array", lambda v, g, *_: len(v) >= g),
    "maxItems": _for("array", lambda v, g, *_: len(v) <= g),
    "uniqueItems": _for(
        "array",
        lambda v, g, *_: not g or not any(_same(v[i], v[j]) for i in range(len(v)) for j in range(i)),
    ),
    "contains": _for("array", lambda v, g, s, r: any(fits(one, g, r) for one in v)),
    "items": _for("array", _items),
    "prefixItems": _for(
        "array", lambda v, g, s, r: all(fits(one, inner, r) for one, inner in zip(v, g, strict=False))
    ),
    "required": _for("object", lambda v, g, *_: all(name in v for name in g)),
    "minProperties": _for("object", lambda v, g, *_: len(v) >= g),
    "maxProperties": _for("object", lambda v, g, *_: len(v) <= g),
    "properties": _for(
        "object", lambda v, g, s, r: all(fits(v[name], g[name], r) for name in g if name in v)
    ),
    "patternProperties": _for("object", _patterns),
    "additionalProperties": _for("object", _additional),
    "propertyNames": _for("object", lambda v, g, s, r: all(fits(name, g, r) for name in v)),
    "anyOf": lambda v, g, s, r: any(fits(v, one, r) for one in g),
    "oneOf": lambda v, g, s, r: sum(fits(v, one, r) for one in g) == 1,
    "allOf": lambda v, g, s, r: all(fits(v, one, r) for one in g),
    "not": lambda v, g, s, r: not fits(v, g, r),
}

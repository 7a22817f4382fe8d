"""Parses JSON Schemas, and refuses invalid ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brookmere.registry.schemas.json.nodes import Document, JsonSchemaError, Node

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_SCHEMA = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")


def parse_json_schema(text: str, references: Mapping[str, str]) -> Node:
    """Parse a JSON Schema. `references` are the texts that it may refer to, by the names it uses.

    >>> parse_json_schema('{"type": "string"}', {}).tree
    {'type': 'string'}
    """
    others = {name: _loaded(other) for name, other in references.items()}
    tree = _loaded(text)
    node = Node(tree, Document(tree, others))
    if isinstance(tree, dict) and "draft-03" in str(tree.get("$schema", "")):
        raise JsonSchemaError("draft 3 is not supported: use draft 4 or newer")
    _check(node, "the schema")
    return node


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as problem:
        raise JsonSchemaError(f"it is not valid JSON: {problem}") from problem


def _check(node: Node, place: str) -> None:
    tree = node.tree
    if isinstance(tree, bool):
        return
    if not isinstance(tree, dict):
        raise JsonSchemaError(f"{place}: expected an object or a boolean, found {json.dumps(tree)[:80]}")
    for word, fits in _SHAPES.items():
        if word in tree and not fits(tree[word]):
            raise JsonSchemaError(f"{place}: '{word}' cannot be {json.dumps(tree[word])[:80]}")
    if "$ref" in tree:
        node.resolve(tree["$ref"])
    for pattern in tree.get("patternProperties", {}):
        _check_pattern(pattern, place)
    for name, part in _inner(tree):
        _check(node.part(part), f"{place}.{name}")


def _inner(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for word in _SCHEMA:
        if word in tree:
            yield word, tree[word]
    for word in _LISTS:
        for number, part in enumerate(tree.get(word, ())):
            yield f"{word}[{number}]", part
    for word in _MAPS:
        for name, part in tree.get(word, {}).items():
            yield f"{word}.{name}", part
    items = tree.get("items", ())
    for number, part in enumerate(items if isinstance(items, list | tuple) else [items]):
        yield f"items[{number}]", part


def _is_type(value: Any) -> bool:
    listed = value if isinstance(value, list) else [value]
    return bool(listed) and all(one in TYPES for one in listed)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _check_pattern(pattern: str, place: str) -> None:
    try:
        re.compile(pattern)
    except re.error as problem:
        raise JsonSchemaError(f"{place}: the property pattern '{pattern}' is invalid: {problem}") from problem


_SHAPES: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "enum": lambda value: isinstance(value, list),
    "required": lambda value: _is_words(value) or isinstance(value, bool),
    "minimum": _is_number,
    "maximum": _is_number,
    "exclusiveMinimum": lambda value: _is_number(value) or isinstance(value, bool),
    "exclusiveMaximum": lambda value: _is_number(value) or isinstance(value, bool),
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "minLength": _is_count,
    "maxLength": _is_count,
    "minItems": _is_count,
    "maxItems": _is_count,
    "minProperties": _is_count,
    "maxProperties": _is_count,
    "uniqueItems": lambda value: isinstance(value, bool),
    # Patterns of values may use a dialect that only JavaScript understands.
    "pattern": lambda value: isinstance(value, str),
    "$ref": lambda value: isinstance(value, str),
    **{word: lambda value: isinstance(value, list) for word in _LISTS},
    **{word: lambda value: isinstance(value, dict) for word in _MAPS},
}

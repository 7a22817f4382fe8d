"""Compatibility of objects in JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from brookmere.registry.compatibility.json_values import Parts, largest, smallest
from brookmere.registry.schemas.json.nodes import Node

if TYPE_CHECKING:
    from brookmere.registry.compatibility.json_schema import Check


def object_differences(check: Check, writer: Parts, reader: Node, path: str) -> list[str]:
    """Compare the properties of objects and their schemas."""
    reasons = [f"{path}: {reason}" if path else reason for reason in _counts(writer, reader)]
    inside = f"{path}." if path else ""
    named = sorted({name for part in (*writer, reader) for name in part.tree.get("properties", {})})
    for name in named:
        for wanted in property_schemas(reader, name):
            reasons += check.deeper(property_parts(writer, name), wanted, f"{inside}{name}")
    return reasons + _others(check, writer, reader, inside)


def property_parts(parts: Parts, name: str) -> Parts:
    """Return the schemas that several schemas have for a property."""
    return tuple(schema for part in parts for schema in property_schemas(part, name))


def property_schemas(part: Node, name: str) -> list[Node]:
    """Return the schemas that apply to a property: its own, those of patterns, or that of all others."""
    tree = part.tree
    found = [tree["properties"][name]] if name in tree.get("properties", {}) else []
    found += [
        schema for pattern, schema in tree.get("patternProperties", {}).items() if re.search(pattern, name)
    ]
    return [part.part(schema) for schema in found or [tree.get("additionalProperties", True)]]


def required(parts: Parts) -> set[str]:
    """Return the required properties."""
    return {
        name
        for part in parts
        if isinstance(part.tree.get("required"), list)
        for name in part.tree["required"]
    }


def _counts(writer: Parts, reader: Node) -> Iterator[str]:
    tree = reader.tree
    there = required(writer)
    for name in sorted(required((reader,)) - there):
        yield f"the property '{name}' is now required"
    least = max(largest(writer, "minProperties") or 0, len(there))
    if "minProperties" in tree and least < tree["minProperties"]:
        yield f"objects must now have at least {tree['minProperties']} properties"
    most = smallest(writer, "maxProperties")
    if "maxProperties" in tree and (most is None or most > tree["maxProperties"]):
        yield f"objects must now have at most {tree['maxProperties']} properties"


def _others(check: Check, writer: Parts, reader: Node, inside: str) -> list[str]:
    """Compare the properties that no schema names."""
    tree = reader.tree
    reasons: list[str] = []
    for pattern, schema in tree.get("patternProperties", {}).items():
        wanted = reader.part(schema)
        # With the same pattern the writer has its own schema for these names, in addition to other patterns.
        fits = any(
            pattern in part.tree.get("patternProperties", {})
            and not check.deeper((part.part(part.tree["patternProperties"][pattern]),), wanted, "")
            for part in writer
        )
        if not fits and not _all_fit(check, writer, wanted, frozenset()):
            reasons.append(f"{inside}*: properties like '{pattern}' may not fit")
    closed = tree.get("additionalProperties", True)
    if closed is not True and closed != {}:
        known = frozenset(tree.get("patternProperties", {}))
        if not _all_fit(check, writer, reader.part(closed), known):
            text = "are no longer allowed" if closed is False else "may not fit"
            reasons.append(f"{inside}*: properties that the schema does not name {text}")
    return reasons


def _all_fit(check: Check, writer: Parts, wanted: Node, left_out: frozenset[str]) -> bool:
    """Return whether the values that one of the writer's schemas allows under other names fit."""
    for part in writer:
        alternatives = [part.tree.get("additionalProperties", True)]
        alternatives += [
            schema
            for pattern, schema in part.tree.get("patternProperties", {}).items()
            if pattern not in left_out
        ]
        if not any(check.deeper((part.part(one),), wanted, "") for one in alternatives):
            return True
    return False

"""Compatibility of arrays in JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brookmere.registry.compatibility.json_values import Parts, largest, smallest
from brookmere.registry.schemas.json.nodes import Node

if TYPE_CHECKING:
    from brookmere.registry.compatibility.json_schema import Check


def array_differences(check: Check, writer: Parts, reader: Node, path: str) -> list[str]:
    """Compare the items of arrays and their number."""
    tree = reader.tree
    reasons: list[str] = []
    most = smallest(writer, "maxItems")
    if "minItems" in tree and (largest(writer, "minItems") or 0) < tree["minItems"]:
        reasons.append(f"arrays must now have at least {tree['minItems']} items")
    if "maxItems" in tree and (most is None or most > tree["maxItems"]):
        reasons.append(f"arrays must now have at most {tree['maxItems']} items")
    unique = any(part.tree.get("uniqueItems") for part in writer) or (most is not None and most <= 1)
    if tree.get("uniqueItems") and not unique:
        reasons.append("the items of arrays must now be unique")
    reasons = [f"{path}: {reason}" if path else reason for reason in reasons]
    return reasons + _items(check, writer, reader, path)


def _items(check: Check, writer: Parts, reader: Node, path: str) -> list[str]:
    first, rest = items_of(reader)
    reasons: list[str] = []
    firsts = [items_of(part)[0] for part in writer]
    for number in range(max(len(first), *(len(one) for one in firsts))):
        wanted = first[number] if number < len(first) else rest
        reasons += check.deeper(_item(writer, number), wanted, f"{path}[{number}]")
    return reasons + check.deeper(_item(writer, None), rest, f"{path}[]")


def _item(writer: Parts, number: int | None) -> Parts:
    found = []
    for part in writer:
        first, rest = items_of(part)
        found.append(first[number] if number is not None and number < len(first) else rest)
    return tuple(found)


def items_of(part: Node) -> tuple[list[Node], Node]:
    """Return the schemas of the first items, and the schema of all further items."""
    tree = part.tree
    if isinstance(tree.get("items"), list):
        return [part.part(one) for one in tree["items"]], part.part(tree.get("additionalItems", True))
    return [part.part(one) for one in tree.get("prefixItems", ())], part.part(tree.get("items", True))

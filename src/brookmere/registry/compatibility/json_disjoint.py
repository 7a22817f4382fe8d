"""Detects JSON Schemas that no value can satisfy together."""

from __future__ import annotations

from brookmere.registry.compatibility.json_objects import property_parts, required
from brookmere.registry.compatibility.json_values import Parts, among, types, values


def disjoint(one: Parts, other: Parts | None) -> bool:
    """Return whether it is certain that no value fits both; both are expanded."""
    if other is None or not types(one) & types(other):
        return True
    known, listed = values(one), values(other)
    if known is not None and listed is not None and not any(among(value, listed) for value in known):
        return True
    if types(one) & types(other) != {"object"}:
        return False
    return any(
        _never_both(property_parts(one, name), property_parts(other, name))
        for name in required(one) | required(other)
    )


def _never_both(one: Parts, other: Parts) -> bool:
    if any(part.tree is False for part in (*one, *other)):
        return True
    ours = tuple(part for part in one if isinstance(part.tree, dict))
    theirs = tuple(part for part in other if isinstance(part.tree, dict))
    if not types(ours) & types(theirs):
        return True
    known, listed = values(ours), values(theirs)
    return known is not None and listed is not None and not any(among(value, listed) for value in known)

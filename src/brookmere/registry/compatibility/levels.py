"""Compatibility levels: which versions have to read each other's data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from brookmere.registry.compatibility.check import differences
from brookmere.registry.schemas.formats import Parsed

LEVELS = (
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
)

_T = TypeVar("_T")


def against(level: str, versions: Sequence[_T]) -> list[_T]:
    """Return the versions, oldest first, that a level compares a new schema with."""
    if level == "NONE":
        return []
    return list(versions) if level.endswith("_TRANSITIVE") else list(versions[-1:])


def reasons_against(level: str, new: Parsed, older: Sequence[tuple[int, Parsed]]) -> list[str]:
    """Return the reasons against a new schema; empty if it is compatible with the older ones."""
    reasons: list[str] = []
    for version, old in reversed(older):
        if level == "NONE":
            continue
        if new.type != old.type:
            reasons.append(
                f"the new schema is of the type {new.type}, version {version} of the type {old.type}"
            )
            continue
        if level.startswith(("BACKWARD", "FULL")):
            found = differences(reader=new, writer=old)
            reasons += [f"the new schema cannot read data of version {version}: {one}" for one in found]
        if level.startswith(("FORWARD", "FULL")):
            found = differences(reader=old, writer=new)
            reasons += [f"version {version} cannot read data of the new schema: {one}" for one in found]
    return reasons

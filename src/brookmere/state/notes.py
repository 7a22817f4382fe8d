"""Turns what a replica has to know after a restart into the row that it writes with every change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

_FORMAT = 1
KEY = b"replica"


@dataclass(frozen=True, slots=True)
class Notes:
    """Whose rows these are, and how far they have come."""

    topic: str
    """The id of the topic: another topic of the same name has other rows."""
    kind: str
    positions: Mapping[int, int] = field(default_factory=dict)
    observed: Mapping[int, int] = field(default_factory=dict)
    """The latest time that each partition has seen."""
    level_at: int = 0
    """When the replica was last level with the topic, in milliseconds since 1970."""


def to_bytes(notes: Notes) -> bytes:
    """Write notes."""
    return json.dumps(
        {
            "format": _FORMAT,
            "topic": notes.topic,
            "kind": notes.kind,
            "positions": dict(notes.positions),
            "observed": dict(notes.observed),
            "level_at": notes.level_at,
        }
    ).encode()


def from_bytes(data: bytes | None) -> Notes | None:
    """Read notes; None where there are none, or none that this version understands."""
    if data is None:
        return None
    found = json.loads(data)
    if found.get("format") != _FORMAT:
        return None
    return Notes(
        found["topic"],
        found["kind"],
        {int(p): at for p, at in found["positions"].items()},
        {int(p): at for p, at in found["observed"].items()},
        found["level_at"],
    )

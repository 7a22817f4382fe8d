"""Turns what a replica has to know after a restart into the row that it writes with every change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from brookmere.state.description.store_info import StoreInfo
from brookmere.topics import AnyTopic
from brookmere.topics.times import now_ms

_FORMAT = 1
KEY = b"replica"
# Kafka's own default: so long a compacted topic keeps the records that say that a key is gone.
_DELETIONS_MS = 86_400_000


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


def misfit(found: Notes | None, topic: AnyTopic, info: StoreInfo) -> str | None:
    """Return why rows with these notes, or with none that are understood, are of no use; None if they are."""
    if found is None:
        return "its rows were written by another version"
    if (found.topic, found.kind) != (topic.id, info.kind):
        return "its changelog was created anew"
    if len(found.positions) != topic.partitions and info.kind == "key_value":
        return "the topic has more partitions, so that keys are at home in others"
    if _has_missed_records(found, topic, info):
        return "the topic no longer has what comes next"
    if _has_missed_deletions(found, topic, info):
        return "it has not been level for so long that deletions may be gone"
    return None


def _has_missed_records(found: Notes, topic: AnyTopic, info: StoreInfo) -> bool:
    # Windows whose records are gone are no rows any more either.
    if info.kind in ("window", "session"):
        return False
    return any(found.positions.get(p, start) < start for p, start in enumerate(topic.start_offsets()))


def _has_missed_deletions(found: Notes, topic: AnyTopic, info: StoreInfo) -> bool:
    # Windows are rarely deleted, and a topic may have lost those that are still of interest.
    if info.kind == "window" or not topic.config.compacts:
        return False
    kept = int(topic.config.by_name().get("delete.retention.ms", _DELETIONS_MS))
    return now_ms() - found.level_at > kept


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

"""The notes a replica writes with every change, so that it can resume after a restart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from brookmere.state.description.store_info import StoreInfo
from brookmere.topics import AnyTopic
from brookmere.topics.times import now_ms

_FORMAT = 1
KEY = b"replica"
# Kafka's default for how long a compacted topic keeps tombstones.
_DELETIONS_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Notes:
    """Which changelog the rows belong to, and how far they have been read."""

    topic: str
    """The topic id: a re-created topic of the same name has different rows."""
    kind: str
    positions: Mapping[int, int] = field(default_factory=dict)
    observed: Mapping[int, int] = field(default_factory=dict)
    """The highest timestamp seen by each partition."""
    level_at: int = 0
    """When the replica was last caught up, in milliseconds since 1970."""


def misfit(found: Notes | None, topic: AnyTopic, info: StoreInfo) -> str | None:
    """Return why rows with these notes cannot be used; None if they can."""
    if found is None:
        return "its files were written by another version"
    if (found.topic, found.kind) != (topic.id, info.kind):
        return "its changelog was re-created"
    if len(found.positions) != topic.partitions and info.kind == "key_value":
        return "the topic gained partitions, so keys belong to other partitions"
    if _has_missed_records(found, topic, info):
        return "the topic no longer has the next records"
    if _has_missed_deletions(found, topic, info):
        return "it lagged so long that tombstones may be gone"
    return None


def _has_missed_records(found: Notes, topic: AnyTopic, info: StoreInfo) -> bool:
    # Windows whose records are gone have expired as well.
    if info.kind in ("window", "session"):
        return False
    return any(found.positions.get(p, start) < start for p, start in enumerate(topic.start_offsets()))


def _has_missed_deletions(found: Notes, topic: AnyTopic, info: StoreInfo) -> bool:
    # Windows are rarely deleted, but retention may have removed some that are still live.
    if info.kind == "window" or not topic.config.compacts:
        return False
    kept = int(topic.config.by_name().get("delete.retention.ms", _DELETIONS_MS))
    return now_ms() - found.level_at > kept


def to_bytes(notes: Notes) -> bytes:
    """Encode notes."""
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
    """Decode notes; None if there are none, or if another version wrote them."""
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

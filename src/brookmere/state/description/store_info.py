"""What a replica needs to know about a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from brookmere.serde import Serde

StoreKind = Literal["key_value", "window", "session", "versioned"]


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """The description of a store and its changelog."""

    name: str
    kind: StoreKind
    topic: str
    """The changelog, or the source topic of the table."""
    key: Serde
    """The serde of keys in Python, without windows."""
    value: Serde
    window_ms: int | None = None
    """The size of time windows."""
    retention_ms: int | None = None
    """How long windows, sessions and versions are retained; None means forever."""
    is_source: bool = False
    """The topic is the table's source topic. Undecodable records are skipped, as in the application."""
    is_global: bool = False

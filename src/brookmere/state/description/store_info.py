"""Says what a replica has to know of a store to keep its rows and to answer questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from brookmere.serde import Serde

StoreKind = Literal["key_value", "window", "session", "versioned"]


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A store as its changelog shows it."""

    name: str
    kind: StoreKind
    topic: str
    """The changelog, or the topic that the table is read from."""
    key: Serde
    """That of the keys in Python, without their windows."""
    value: Serde
    window_ms: int | None = None
    """How long time windows are."""
    retention_ms: int | None = None
    """How far back windows, sessions and versions are kept; None is for ever."""
    is_source: bool = False
    """The topic is the table's own source. Records that do not decode are no rows, as in the application."""
    is_global: bool = False

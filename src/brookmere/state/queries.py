"""Says what can be asked of a store, and what comes back: Kafka Streams' kinds of queries as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from brookmere.state.description.store_info import StoreKind
from brookmere.state.position import Position

Time = int | datetime
"""Milliseconds since 1970 (UTC), or a datetime."""


class Row(NamedTuple):
    """A row of a store. Of a version `timestamp` says since when it is valid, and `until` up to when."""

    key: Any
    """A WindowedKey in stores of windows and sessions."""
    value: Any
    timestamp: int
    until: int | None = None
    """When the next version came; None for one that still is valid, and where there are no versions."""


class Query:
    """A question to a store."""

    kinds: ClassVar[tuple[StoreKind, ...]]
    """The kinds of stores that can answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Query):
    """A question that is answered with a list of rows."""

    reverse: bool = False
    limit: int | None = None
    """At most so many rows; the result then has the cursor of the next page."""
    cursor: str | None = None
    """Go on behind the last page: the cursor that came with it."""


@dataclass(frozen=True, slots=True)
class KeyQuery(Query):
    """The row of a key."""

    kinds = ("key_value",)
    key: Any


@dataclass(frozen=True, slots=True)
class RangeQuery(Listing):
    """The rows from key to key, both included, or those whose serialised keys begin with a prefix."""

    kinds = ("key_value",)
    lower: Any = None
    upper: Any = None
    prefix: str | bytes | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class WindowKeyQuery(Listing):
    """The windows of a key that start in a span of time, both ends included."""

    kinds = ("window",)
    key: Any
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class WindowRangeQuery(Listing):
    """The windows of all keys that start in a span of time, in the order of time."""

    kinds = ("window",)
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class SessionKeyQuery(Listing):
    """The sessions of a key that overlap a span of time."""

    kinds = ("session",)
    key: Any
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class SessionRangeQuery(Listing):
    """The sessions of all keys that end in a span of time, in the order of their ends."""

    kinds = ("session",)
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class VersionedKeyQuery(Query):
    """The value that a key has, or had at a time."""

    kinds = ("versioned",)
    key: Any
    as_of: Time | None = None


@dataclass(frozen=True, slots=True)
class MultiVersionedKeyQuery(Listing):
    """The versions of a key that were valid in a span of time."""

    kinds = ("versioned",)
    key: Any
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class VersionedRangeQuery(Listing):
    """The value that every key has now."""

    kinds = ("versioned",)


@dataclass(frozen=True, slots=True)
class CountQuery(Query):
    """How many rows there are."""

    kinds = ("key_value", "window", "session", "versioned")


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer, and how fresh it is."""

    value: Any
    """A Row or None, a list of rows, or a number."""
    position: Position
    """Everything up to here is in the answer."""
    lag: int
    """How many records of the changelog the replica knew to be missing."""
    checked_at: int
    """When the replica last looked for more, in milliseconds since 1970; -1 for never."""
    cursor: str | None = None
    """Where the next page begins; None on the last one."""
    inputs: Position = field(default_factory=Position)
    """In the application's own process: everything read of its topics up to here is in the answer, too."""

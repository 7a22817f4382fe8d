"""Kafka Streams' kinds of queries as values, and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, NamedTuple

from brookmere.state.description.store_info import StoreKind
from brookmere.state.position import Position

Time = int | datetime
"""Milliseconds since 1970 (UTC), or a datetime."""


class Row(NamedTuple):
    """A row of a store. A version is valid from `timestamp` until `until`."""

    key: Any
    """A WindowedKey in stores of windows and sessions."""
    value: Any
    timestamp: int
    until: int | None = None
    """When the next version replaced it; None if it is still valid, and in stores without versions."""


class Query:
    """A query of a store."""

    kinds: ClassVar[tuple[StoreKind, ...]]
    """The kinds of stores that support it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Query):
    """A query that returns a list of rows."""

    reverse: bool = False
    limit: int | None = None
    """The maximum number of rows; if there are more, the result carries the cursor of the next page."""
    cursor: str | None = None
    """Continue after a page: the cursor that its result carried."""


@dataclass(frozen=True, slots=True)
class KeyQuery(Query):
    """The row of a key."""

    kinds = ("key_value",)
    key: Any


@dataclass(frozen=True, slots=True)
class RangeQuery(Listing):
    """The rows between two keys, inclusive, or those whose serialised keys start with a prefix."""

    kinds = ("key_value",)
    lower: Any = None
    upper: Any = None
    prefix: str | bytes | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class WindowKeyQuery(Listing):
    """The windows of a key that start between two times, inclusive."""

    kinds = ("window",)
    key: Any
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class WindowRangeQuery(Listing):
    """The windows of all keys that start between two times, in time order."""

    kinds = ("window",)
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class SessionKeyQuery(Listing):
    """The sessions of a key that overlap an interval."""

    kinds = ("session",)
    key: Any
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class SessionRangeQuery(Listing):
    """The sessions of all keys that end in an interval, ordered by end."""

    kinds = ("session",)
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class VersionedKeyQuery(Query):
    """The value of a key, now or as of a time."""

    kinds = ("versioned",)
    key: Any
    as_of: Time | None = None


@dataclass(frozen=True, slots=True)
class MultiVersionedKeyQuery(Listing):
    """The versions of a key that were valid in an interval."""

    kinds = ("versioned",)
    key: Any
    start: Time | None = None
    end: Time | None = None


@dataclass(frozen=True, slots=True)
class VersionedRangeQuery(Listing):
    """The current value of every key."""

    kinds = ("versioned",)


@dataclass(frozen=True, slots=True)
class CountQuery(Query):
    """The number of rows."""

    kinds = ("key_value", "window", "session", "versioned")


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a query, and how fresh it is."""

    value: Any
    """A Row or None, a list of rows, or a number."""
    position: Position
    """The result includes everything up to here."""
    lag: int
    """How many records the replica lagged behind the changelog."""
    checked_at: int
    """When the replica last polled the changelog, in milliseconds since 1970; -1 means never."""
    cursor: str | None = None
    """The cursor of the next page; None on the last page."""
    inputs: Position = field(default_factory=Position)
    """In the application's own process: the result includes everything read from its topics up to here."""

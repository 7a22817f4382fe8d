"""Keeps the rows of stores in replicas of their changelogs, and answers questions about them."""

from __future__ import annotations

from brookmere.state.position import Position
from brookmere.state.queries import (
    CountQuery,
    KeyQuery,
    MultiVersionedKeyQuery,
    Query,
    QueryResult,
    RangeQuery,
    Row,
    SessionKeyQuery,
    SessionRangeQuery,
    VersionedKeyQuery,
    VersionedRangeQuery,
    WindowKeyQuery,
    WindowRangeQuery,
)
from brookmere.state.store_info import StoreInfo, StoreKind

__all__ = [
    "CountQuery",
    "KeyQuery",
    "MultiVersionedKeyQuery",
    "Position",
    "Query",
    "QueryResult",
    "RangeQuery",
    "Row",
    "SessionKeyQuery",
    "SessionRangeQuery",
    "StoreInfo",
    "StoreKind",
    "VersionedKeyQuery",
    "VersionedRangeQuery",
    "WindowKeyQuery",
    "WindowRangeQuery",
]

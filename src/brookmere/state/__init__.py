"""Replicas of stores: they follow changelogs, keep the rows and answer queries."""

from __future__ import annotations

from brookmere.state.description.store_info import StoreInfo, StoreKind
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
from brookmere.state.replica.replica import Replica, StoreStatus
from brookmere.state.stores.key_value import KeyValueStore
from brookmere.state.stores.stores import AnyStore, Inputs
from brookmere.state.stores.timed import SessionStore, WindowStore
from brookmere.state.stores.versioned import Version, VersionedStore
from brookmere.state.updates import Update, Updates

__all__ = [
    "AnyStore",
    "CountQuery",
    "Inputs",
    "KeyQuery",
    "KeyValueStore",
    "MultiVersionedKeyQuery",
    "Position",
    "Query",
    "QueryResult",
    "RangeQuery",
    "Replica",
    "Row",
    "SessionKeyQuery",
    "SessionRangeQuery",
    "SessionStore",
    "StoreInfo",
    "StoreKind",
    "StoreStatus",
    "Update",
    "Updates",
    "Version",
    "VersionedKeyQuery",
    "VersionedRangeQuery",
    "VersionedStore",
    "WindowKeyQuery",
    "WindowRangeQuery",
    "WindowStore",
]

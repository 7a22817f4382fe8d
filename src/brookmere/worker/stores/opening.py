"""Turns what is told of a store into the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brookmere.worker.stores.key_value import KeyValueStore, key_value_store
from brookmere.worker.stores.session import SessionStore
from brookmere.worker.stores.versioned import VersionedStore
from brookmere.worker.stores.window import WindowStore

if TYPE_CHECKING:
    from brookmere.worker.code import StoreCode
    from brookmere.worker.stores.groups import GroupedStore
    from brookmere.worker.stores.store import Keeper


def opened(code: StoreCode, number: int, keeper: Keeper) -> KeyValueStore | GroupedStore:
    """Return a store; `number` is what the JVM knows it by."""
    match code.kind:
        case "key_value":
            return key_value_store(code, number, keeper)
        case "window" | "timed_window":
            return WindowStore(code, number, keeper)
        case "session" | "timed_session":
            return SessionStore(code, number, keeper)
        case "versioned":
            return VersionedStore(code, number, keeper)

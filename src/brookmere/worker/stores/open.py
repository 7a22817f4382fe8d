"""Opens the stores of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brookmere.worker.stores.entry_store import EntryStore
from brookmere.worker.stores.flat_store import FlatStore
from brookmere.worker.stores.groups import GroupedStore
from brookmere.worker.stores.session import SessionStore
from brookmere.worker.stores.store import is_scalar
from brookmere.worker.stores.versioned import VersionedStore
from brookmere.worker.stores.window import WindowStore

if TYPE_CHECKING:
    from brookmere.worker.protocol.stage_code import StoreCode
    from brookmere.worker.stores.store import Keeper

Store = EntryStore | FlatStore | GroupedStore


def opened(code: StoreCode, number: int, keeper: Keeper, *, for_processors: bool) -> Store:
    """Return a store. `number` identifies it to the JVM. `for_processors`: only processors use it."""
    match code.kind:
        case "key_value" if for_processors and is_scalar(code.key) and is_scalar(code.value):
            return FlatStore(code, number, keeper)
        case "key_value":
            return EntryStore(code, number, keeper)
        case "window":
            return WindowStore(code, number, keeper)
        case "session":
            return SessionStore(code, number, keeper)
        case "versioned":
            return VersionedStore(code, number, keeper)

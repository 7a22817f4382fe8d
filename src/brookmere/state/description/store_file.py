"""The file in a state directory that describes the application's stores to other processes."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from brookmere.serde import Registry
from brookmere.state.description.described import names_from_json, stores_from_json, stores_to_json
from brookmere.state.description.store_info import StoreInfo

STORES = "stores.json"


def write_stores(directory: Path, stores: Sequence[StoreInfo]) -> None:
    """Write the descriptions that replicas need, atomically."""
    replace_text(directory / STORES, stores_to_json(stores))


def store_names(directory: Path) -> list[str]:
    """Return the names of the stores of the application that last started in `directory`."""
    try:
        text = (directory / STORES).read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return names_from_json(text)


def read_stores(
    directory: Path, *, only: Collection[str] | None = None, registry: Registry | None = None
) -> list[StoreInfo] | None:
    """Return the stores of the application that last started in `directory`, or None if none did.

    Raises:
        StateError: the file cannot be read.
        UnsupportedError: a store (of those that `only` names) has a serde that only the program can build.
    """
    try:
        text = (directory / STORES).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    return stores_from_json(text, only=only, registry=registry)


def replace_text(file: Path, text: str) -> None:
    """Replace a file atomically: readers see the old text or the new one."""
    # The name contains the process id, because another process may write at the same time.
    unfinished = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)

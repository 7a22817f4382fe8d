"""Descriptions of stores as JSON, so that other processes can open them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from brookmere.errors import StateError, UnsupportedError
from brookmere.serde import Registry, Serde
from brookmere.serde.kinds import describe_serde, read_serde
from brookmere.state.description.store_info import StoreInfo

_FORMAT = 1
_OPAQUE = "program"
"""The kind of a serde that only the program itself can build."""


def stores_to_json(stores: Iterable[StoreInfo]) -> str:
    """Write the descriptions of stores.

    A store whose serde holds functions of the program is written too, but cannot be read back.
    """
    found = []
    for store in stores:
        plain = {part.name: getattr(store, part.name) for part in fields(store)}
        found.append(plain | {"key": _described(store.key), "value": _described(store.value)})
    return json.dumps({"format": _FORMAT, "stores": found}, indent=2)


def stores_from_json(
    text: str, *, only: Collection[str] | None = None, registry: Registry | None = None
) -> list[StoreInfo]:
    """Read what `stores_to_json` wrote: all stores, or `only` those of some names.

    `registry` comes from the application's settings, which contain its login.

    Raises:
        StateError: this is not a description of stores, or was written by another version.
        UnsupportedError: a store has a serde that only the program has, or that cannot be imported here.
    """
    with _readable():
        return [_store(each, registry) for each in _content(text) if only is None or each["name"] in only]


def names_from_json(text: str) -> list[str]:
    """Read only the names of the stores, including those that only the program can read.

    Raises:
        StateError: this is not a description of stores, or was written by another version.
    """
    with _readable():
        return [each["name"] for each in _content(text)]


def _content(text: str) -> list[dict[str, Any]]:
    content = json.loads(text)
    if content["format"] != _FORMAT:
        raise ValueError(f"the format {content['format']}, expected {_FORMAT}")
    found: list[dict[str, Any]] = content["stores"]
    return found


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StateError(
            f"The description of the application's stores cannot be read. Found: {error}. "
            "Start the application again: it rewrites the description."
        ) from error


def _store(found: Mapping[str, Any], registry: Registry | None) -> StoreInfo:
    known = {part.name: found[part.name] for part in fields(StoreInfo) if part.name in found}
    serdes: dict[str, Serde] = {}
    for part in ("key", "value"):
        if found[part]["kind"] == _OPAQUE:
            raise UnsupportedError(
                f"The {part}s of the store {found['name']!r} can only be read with the program. "
                f"Found: {found[part]['why']} Pass the program instead of the application id, "
                "or name other stores."
            )
        serdes[part] = read_serde(found[part], registry=registry)
    return StoreInfo(**(known | serdes))


def _described(serde: Serde) -> dict[str, Any]:
    try:
        return describe_serde(serde)
    except UnsupportedError as error:
        return {"kind": _OPAQUE, "why": str(error).partition(" Other processes")[0]}

"""Stored values as JSON, without decoding them if the bytes are JSON already."""

from __future__ import annotations

from collections.abc import Callable

from brookmere.serde import Json, Registered, Serde
from brookmere.serde.json.spark_json import SparkJson
from brookmere.state import StoreInfo
from brookmere.state.description.json_values import json_of

RawWriter = Callable[[bytes], bytes]


def raw_writer(info: StoreInfo, serde: Serde) -> RawWriter:
    """Return a function from stored values to JSON.

    A changelog contains the JSON that the application wrote. Other writers of a table's source topic may add
    fields that the program does not know, so such values are decoded first.
    """
    if not info.is_source and _is_plain_json(serde):
        return _as_it_is
    return lambda data: json_of(serde.deserialize(data))


def asks_registry(serde: Serde) -> bool:
    """Return whether a serde may need a schema registry, which can be slow."""
    framed = serde.frame if isinstance(serde, SparkJson) else serde
    return isinstance(framed, Registered) and framed.client is not None


def _is_plain_json(serde: Serde) -> bool:
    return isinstance(serde, Json) or (
        isinstance(serde, SparkJson) and serde.member is None and serde.frame is None
    )


def _as_it_is(data: bytes) -> bytes:
    return data

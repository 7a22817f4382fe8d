"""Turns the bytes of values as stores have them into JSON, without decoding where the bytes are JSON."""

from __future__ import annotations

from collections.abc import Callable

from brookmere.serde import Json, Registered, Serde
from brookmere.serde.json.spark_json import SparkJson
from brookmere.state import StoreInfo
from brookmere.state.description.json_values import json_of

RawWriter = Callable[[bytes], bytes]


def raw_writer(info: StoreInfo, serde: Serde) -> RawWriter:
    """Return what turns stored values into JSON.

    A changelog has the JSON that the application wrote. What others wrote to a table's own topic may have
    fields that the program does not know, so it is decoded first.
    """
    if not info.is_source and _is_plain_json(serde):
        return _as_it_is
    return lambda data: json_of(serde.deserialize(data))


def asks_registry(serde: Serde) -> bool:
    """Tell whether a serde may have to ask a schema registry, which can take long."""
    framed = serde.frame if isinstance(serde, SparkJson) else serde
    return isinstance(framed, Registered) and framed.client is not None


def _is_plain_json(serde: Serde) -> bool:
    return isinstance(serde, Json) or (
        isinstance(serde, SparkJson) and serde.member is None and serde.frame is None
    )


def _as_it_is(data: bytes) -> bytes:
    return data

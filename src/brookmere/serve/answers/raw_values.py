"""Stored values as JSON, without decoding them if the bytes are JSON already."""

from __future__ import annotations

from collections.abc import Callable

from brookmere.serde import Serde
from brookmere.serde.json.any_json import json_of
from brookmere.state import StoreInfo
from brookmere.state.description.json_values import shown_value

RawWriter = Callable[[bytes], bytes]


def raw_writer(info: StoreInfo, serde: Serde) -> RawWriter:
    """Return a function from stored values to JSON.

    A changelog contains the JSON that the application wrote. Other writers of a table's source topic may add
    fields that the program does not know, so such values are decoded first.
    """
    if not info.is_source and serde.stores_json():
        return _as_it_is
    return lambda data: json_of(shown_value(serde, serde.deserialize(data)))


def _as_it_is(data: bytes) -> bytes:
    return data

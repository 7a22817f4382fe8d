"""JSON of values from the bytes that stores have, without decoding where the bytes are JSON."""

from __future__ import annotations

from collections.abc import Callable

from brookmere.serde import Serde
from brookmere.serde.json.any_json import json_of
from brookmere.state import StoreInfo
from brookmere.state.description.json_values import shown_value

RawWriter = Callable[[bytes], bytes]


def raw_writer(info: StoreInfo, serde: Serde) -> RawWriter:
    """Return the function that gives stored values as JSON.

    A changelog has the JSON that the application wrote. What others wrote to a table's own topic may have
    fields that the program does not know, so it is decoded first.
    """
    if not info.is_source and serde.stores_json():
        return _as_it_is
    return lambda data: json_of(shown_value(serde, serde.deserialize(data)))


def _as_it_is(data: bytes) -> bytes:
    return data

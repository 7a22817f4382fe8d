"""Turns the bytes of values as stores have them into JSON, without decoding where the bytes are JSON."""

from __future__ import annotations

from collections.abc import Callable

from brookmere.serde import Json, Serde
from brookmere.serve.json_answers import json_of
from brookmere.state import StoreInfo

RawWriter = Callable[[bytes], bytes]


def raw_writer(info: StoreInfo, serde: Serde) -> RawWriter:
    """Return what turns stored values into JSON.

    A changelog has the JSON that the application wrote. What others wrote to a table's own topic may have
    fields that the program does not know, so it is decoded first.
    """
    if isinstance(serde, Json) and not info.is_source:
        return _as_it_is
    return lambda data: json_of(serde.deserialize(data))


def _as_it_is(data: bytes) -> bytes:
    return data

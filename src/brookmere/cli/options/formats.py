"""Turns the names of formats into ways to read them from text and to show them as text."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from brookmere.registry import RegistryClient
from brookmere.serde import BadBytes, Double, Int, Long
from brookmere.serde.json.json_text import to_json
from brookmere.serde.registered import FRAME_BYTES


class Format(StrEnum):
    """How the bytes of keys or values are to be written."""

    TEXT = "text"
    JSON = "json"
    INT = "int"
    LONG = "long"
    DOUBLE = "double"
    BYTES = "bytes"


class ShownFormat(StrEnum):
    """How the bytes of keys or values are to be read; auto finds out."""

    AUTO = "auto"
    TEXT = "text"
    JSON = "json"
    INT = "int"
    LONG = "long"
    DOUBLE = "double"
    BYTES = "bytes"


WRITTEN = "text, json, int, long, double or bytes (in hex)"
SHOWN = "auto, text, json, int, long, double or bytes (in hex)"


def encoder(name: Format) -> Callable[[str], bytes]:
    """Return what turns text into bytes; it raises ValueError for text that has none."""
    return _ENCODERS[name]


def encode_value(value: Any, name: Format) -> bytes | None:
    """Turn a value of a JSON record into bytes; null stays null, whatever the format."""
    if value is None:
        return None
    if name is Format.JSON:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if not isinstance(value, str):
        if name is Format.TEXT or isinstance(value, bool | dict | list):
            # Text of a number or an object is its JSON.
            value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        else:
            value = str(value)
    return _ENCODERS[name](value)


def decode(data: bytes | None, name: ShownFormat, registry: RegistryClient | None = None) -> Any:
    """Turn bytes into a value that can be shown or stand in JSON; raises ValueError where they do not fit.

    With a registry the format auto shows what stands behind the id of a schema.
    """
    if data is None:
        return None
    if registry is not None and name is ShownFormat.AUTO and data[:1] == b"\0" and len(data) > FRAME_BYTES:
        return _by_id(registry, data)
    return _DECODERS[name](data)


def guess(data: bytes) -> str | int:
    """Turn bytes into text if they are printable, else into a long if they are eight, else into hex.

    >>> guess(b"brook"), guess(bytes(7) + b"*"), guess(b"\\xff\\x00")
    ('brook', 42, '0xff00')
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and (text.isprintable() or text.translate(_SPACES).isprintable()):
        return text
    if len(data) == 8:
        return int.from_bytes(data, "big", signed=True)
    return f"0x{data.hex()}"


def _by_id(registry: RegistryClient, data: bytes) -> Any:
    # The libraries of the formats take a while to load.
    from brookmere.serde.framed_values import value_by_id

    try:
        value = value_by_id(registry, data)
    except BadBytes:
        return guess(data)
    return json.loads(to_json(value))


_SPACES = str.maketrans("\t\r\n", "   ")


def _check_json(text: str) -> bytes:
    json.loads(text)
    return text.encode()


def _whole(text: str, serde: Int | Long) -> bytes:
    data = serde.serialize(int(text))
    assert data is not None
    return data


def _real(text: str) -> bytes:
    data = Double().serialize(float(text))
    assert data is not None
    return data


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as failure:
        raise BadBytes(f"not UTF-8 ({failure.reason} at byte {failure.start})") from failure


_ENCODERS: dict[Format, Callable[[str], bytes]] = {
    Format.TEXT: str.encode,
    Format.JSON: _check_json,
    Format.INT: lambda text: _whole(text, Int()),
    Format.LONG: lambda text: _whole(text, Long()),
    Format.DOUBLE: _real,
    Format.BYTES: lambda text: bytes.fromhex(text.removeprefix("0x")),
}
_DECODERS: dict[ShownFormat, Callable[[bytes], Any]] = {
    ShownFormat.AUTO: guess,
    ShownFormat.TEXT: _text,
    ShownFormat.JSON: json.loads,
    ShownFormat.INT: Int().deserialize,
    ShownFormat.LONG: Long().deserialize,
    ShownFormat.DOUBLE: Double().deserialize,
    ShownFormat.BYTES: lambda data: f"0x{data.hex()}",
}

"""The formats of keys and values that `produce` writes and `consume` shows."""

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
    """A format in which keys or values are written."""

    TEXT = "text"
    JSON = "json"
    INT = "int"
    LONG = "long"
    DOUBLE = "double"
    BYTES = "bytes"


class ShownFormat(StrEnum):
    """A format in which keys or values are shown; auto guesses it."""

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
    """Return the function that encodes text; it raises ValueError for text that does not fit the format."""
    return _ENCODERS[name]


def encode_value(value: Any, name: Format) -> bytes | None:
    """Encode a value of a JSON record; null stays null in every format."""
    if value is None:
        return None
    if name is Format.JSON:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if not isinstance(value, str):
        if name is Format.TEXT or isinstance(value, bool | dict | list):
            # Numbers and objects are written as their JSON text.
            value = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        else:
            value = str(value)
    return _ENCODERS[name](value)


def decode(data: bytes | None, name: ShownFormat, registry: RegistryClient | None = None) -> Any:
    """Decode bytes into a value that JSON can hold; raises ValueError if they do not fit the format.

    With a registry, the format auto decodes values that start with the id of a schema.
    """
    if data is None:
        return None
    if registry is not None and name is ShownFormat.AUTO and data[:1] == b"\0" and len(data) > FRAME_BYTES:
        return _by_id(registry, data)
    return _DECODERS[name](data)


def guess(data: bytes) -> str | int:
    """Decode bytes as printable text, else as a long if there are eight, else as hex.

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
    # The Avro and Protobuf libraries are slow to import.
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

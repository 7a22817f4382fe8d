"""Turns text into UTF-8 bytes, and bytes into themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from brookmere.serde.base import BadBytes, Serde, wrong_type


@dataclass(frozen=True, slots=True)
class Text(Serde):
    """Text in UTF-8: a Spark string.

    Bytes that are not UTF-8 are a bad record; they are never replaced by other characters.
    """

    kind: ClassVar[str] = "text"

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if not isinstance(value, str):
            raise wrong_type("Text", "a str", value, "convert it with str(...)")
        return to_utf8(value)

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        return from_utf8(data)


@dataclass(frozen=True, slots=True)
class Bytes(Serde):
    """Bytes as they are: a Spark binary."""

    kind: ClassVar[str] = "bytes"

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if not isinstance(value, bytes | bytearray | memoryview):
            raise wrong_type("Bytes", "bytes", value, "encode it first, or use the serde of its type")
        return bytes(value)

    def deserialize(self, data: bytes | None) -> Any:
        return data


def to_utf8(text: str) -> bytes:
    """Return the UTF-8 bytes of `text`; refuse half a surrogate pair, which has none."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"text has no UTF-8 form: found half a surrogate pair at position {error.start}; remove it first"
        ) from None


def from_utf8(data: bytes) -> str:
    """Return the text of `data`, strictly."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise BadBytes(f"expected UTF-8 text, found byte 0x{byte:02x} at position {error.start}") from None

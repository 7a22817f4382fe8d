"""Text in UTF-8, and bytes as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from brookmere.serde.bad_values import wrong_type
from brookmere.serde.base import matching
from brookmere.serde.binary.kernel_format import KernelFormat
from brookmere.serde.utf8 import from_utf8, to_utf8

_HEX = re.compile(r"0x([0-9a-fA-F]{2})*")


@dataclass(frozen=True, slots=True)
class Text(KernelFormat):
    """Text in UTF-8: a Spark string.

    Bytes that are not UTF-8 are a bad record; they are never replaced by other characters.
    """

    kind: ClassVar[str] = "text"
    type: ClassVar[str] = "string"
    kernel_format: ClassVar[str | None] = "text"
    key_text: ClassVar[str] = "text"
    keys_are_text: ClassVar[bool] = True

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

    def key_from_text(self, text: str) -> Any:
        return text


@dataclass(frozen=True, slots=True)
class Bytes(KernelFormat):
    """Bytes as they are: a Spark binary."""

    kind: ClassVar[str] = "bytes"
    type: ClassVar[str] = "binary"
    kernel_format: ClassVar[str | None] = "bytes"
    has_json_key: ClassVar[bool] = False
    key_text: ClassVar[str] = "0x and hexadecimal digits"

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if not isinstance(value, bytes | bytearray | memoryview):
            raise wrong_type("Bytes", "bytes", value, "encode it first, or use the serde of its type")
        return bytes(value)

    def deserialize(self, data: bytes | None) -> Any:
        return data

    def key_from_text(self, text: str) -> Any:
        return bytes.fromhex(matching(_HEX, text)[2:])

    def value_from_text(self, text: str) -> Any:
        return bytes.fromhex(text.removeprefix("0x"))

    def key_to_text(self, key: Any) -> str:
        return f"0x{bytes(key).hex()}"

    def key_json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$"}

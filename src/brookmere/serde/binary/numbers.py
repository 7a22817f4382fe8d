"""Numbers and booleans in Kafka's fixed-length big-endian bytes."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Any, ClassVar

from brookmere.serde.bad_values import BadBytes, wrong_type
from brookmere.serde.base import matching
from brookmere.serde.binary.kernel_format import KernelFormat
from brookmere.serde.json.json_text import NOT_FINITE

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|-?Infinity")
_BOOL = re.compile("true|false")


@dataclass(frozen=True, slots=True)
class Int(KernelFormat):
    """A whole number in 4 bytes, big endian: a Spark int.

    >>> Int().serialize(7)
    b'\\x00\\x00\\x00\\x07'
    """

    kind: ClassVar[str] = "int"
    type: ClassVar[str] = "int"
    kernel_format: ClassVar[str | None] = "int"
    key_text: ClassVar[str] = "a 32-bit integer"

    def serialize(self, value: Any) -> bytes | None:
        return _whole_to_bytes("Int", value, 4)

    def deserialize(self, data: bytes | None) -> Any:
        return _whole_from_bytes("an Int", data, 4)

    def key_from_text(self, text: str) -> Any:
        return int(matching(_WHOLE, text))

    def value_from_text(self, text: str) -> Any:
        return int(text)

    def key_json_schema(self) -> dict[str, Any]:
        return self.json_schema()


@dataclass(frozen=True, slots=True)
class Long(KernelFormat):
    """A whole number in 8 bytes, big endian: a Spark bigint."""

    kind: ClassVar[str] = "long"
    type: ClassVar[str] = "bigint"
    kernel_format: ClassVar[str | None] = "long"
    key_text: ClassVar[str] = "a 64-bit integer"

    def serialize(self, value: Any) -> bytes | None:
        return _whole_to_bytes("Long", value, 8)

    def deserialize(self, data: bytes | None) -> Any:
        return _whole_from_bytes("a Long", data, 8)

    def key_from_text(self, text: str) -> Any:
        return int(matching(_WHOLE, text))

    def value_from_text(self, text: str) -> Any:
        return int(text)

    def key_json_schema(self) -> dict[str, Any]:
        return self.json_schema()


@dataclass(frozen=True, slots=True)
class Double(KernelFormat):
    """A floating-point number in 8 bytes, IEEE 754, big endian: a Spark double."""

    kind: ClassVar[str] = "double"
    type: ClassVar[str] = "double"
    kernel_format: ClassVar[str | None] = "double"
    key_text: ClassVar[str] = "a number, NaN, Infinity or -Infinity"

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise wrong_type("Double", "a float", value, "convert it with float(...)")
        try:
            return struct.pack(">d", float(value))
        except OverflowError:
            raise ValueError("a whole number is out of the range of a Double; use Json or Text") from None

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        return struct.unpack(">d", _of_length("a Double", data, 8))[0]

    def key_from_text(self, text: str) -> Any:
        return float(matching(_NUMBER, text))

    def value_from_text(self, text: str) -> Any:
        return float(text)

    def from_json_value(self, parsed: Any) -> Any:
        return float(parsed) if parsed in NOT_FINITE else self.deserialize(self.serialize(parsed))

    def key_json_schema(self) -> dict[str, Any]:
        return {"type": "number"}


@dataclass(frozen=True, slots=True)
class Bool(KernelFormat):
    """A truth value in one byte, 1 or 0: a Spark boolean."""

    kind: ClassVar[str] = "bool"
    type: ClassVar[str] = "boolean"
    kernel_format: ClassVar[str | None] = "bool"
    key_text: ClassVar[str] = "true or false"

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if not isinstance(value, bool):
            raise wrong_type("Bool", "a bool", value, "convert it with bool(...)")
        return b"\x01" if value else b"\x00"

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        byte = _of_length("a Bool", data, 1)[0]
        if byte > 1:
            raise BadBytes(f"expected the byte 0 or 1 for a Bool, found {byte}")
        return byte == 1

    def key_from_text(self, text: str) -> Any:
        return matching(_BOOL, text) == "true"

    def key_json_schema(self) -> dict[str, Any]:
        return self.json_schema()


def _whole_to_bytes(serde: str, value: Any, length: int) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(serde, "an int", value, "convert it with int(...)")
    try:
        return value.to_bytes(length, "big", signed=True)
    except OverflowError:
        wider = "Long, Json or Text" if serde == "Int" else "Json or Text"
        raise ValueError(f"{value} does not fit the {length} bytes of {serde}; use {wider}") from None


def _whole_from_bytes(what: str, data: bytes | None, length: int) -> int | None:
    if data is None:
        return None
    return int.from_bytes(_of_length(what, data, length), "big", signed=True)


def _of_length(what: str, data: bytes, length: int) -> bytes:
    if len(data) != length:
        raise BadBytes(f"expected {length} byte{'s' if length > 1 else ''} for {what}, found {len(data)}")
    return data

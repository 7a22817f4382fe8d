"""Turns numbers and truth values into Kafka's fixed-length big-endian bytes, and back."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, ClassVar

from brookmere.serde.base import BadBytes, Serde, wrong_type


@dataclass(frozen=True, slots=True)
class Int(Serde):
    """A whole number in 4 bytes, big endian: a Spark int.

    >>> Int().serialize(7)
    b'\\x00\\x00\\x00\\x07'
    """

    kind: ClassVar[str] = "int"

    def serialize(self, value: Any) -> bytes | None:
        return _whole_to_bytes("Int", value, 4)

    def deserialize(self, data: bytes | None) -> Any:
        return _whole_from_bytes("an Int", data, 4)


@dataclass(frozen=True, slots=True)
class Long(Serde):
    """A whole number in 8 bytes, big endian: a Spark bigint."""

    kind: ClassVar[str] = "long"

    def serialize(self, value: Any) -> bytes | None:
        return _whole_to_bytes("Long", value, 8)

    def deserialize(self, data: bytes | None) -> Any:
        return _whole_from_bytes("a Long", data, 8)


@dataclass(frozen=True, slots=True)
class Double(Serde):
    """A floating-point number in 8 bytes, IEEE 754, big endian: a Spark double."""

    kind: ClassVar[str] = "double"

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


@dataclass(frozen=True, slots=True)
class Bool(Serde):
    """A truth value in one byte, 1 or 0: a Spark boolean."""

    kind: ClassVar[str] = "bool"

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

"""Strict UTF-8, both ways."""

from __future__ import annotations

from brookmere.serde.bad_values import BadBytes


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

"""Errors of serdes: bytes that do not decode, and Python values that do not encode."""

from __future__ import annotations

import reprlib


# The name says what was found; the error that users meet is DeserializationError.
class BadBytes(ValueError):  # noqa: N818
    """Bytes that do not decode; the message is the reason."""


def wrong_type(serde: str, expected: str, found: object, remedy: str) -> TypeError:
    """Return the error for a Python value that a serde cannot write."""
    return TypeError(
        f"{serde} writes {expected}, found {type(found).__name__} {reprlib.repr(found)}; {remedy}"
    )

"""JSON of any Python value: what JSON has no form for is shown as its text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from json.encoder import encode_basestring
from typing import Any

from brookmere.serde.json.json_text import to_json

_DIGITS = 38


def json_of(value: Any) -> bytes:
    """Return `value` as JSON; what has no form of its own there is its text.

    The forms are those of the serde `Json`: bytes are base64 text, a datetime is ISO-8601 text in UTC, a
    Decimal is a number, a double that is none is the text NaN. A WindowedKey is an object of key, start, end.

    >>> json_of({"at": b"\\x00", "nan": float("nan")})
    b'{"at":"AA==","nan":"NaN"}'
    """
    kind = type(value)
    if kind is int:
        return b"%d" % value
    if kind is str:
        return _text(value)
    try:
        return to_json(value)
    except (TypeError, ValueError):
        return to_json(_plain(value))


def _text(value: str) -> bytes:
    try:
        return encode_basestring(value).encode("utf-8")
    except UnicodeEncodeError:
        return to_json(_plain(value))


def _plain(value: Any) -> Any:
    """Return the value with text in place of all that JSON has no form for."""
    match value:
        case None | bool() | int() | bytes() | datetime() | date():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Enum():
            return value.name
        case str():
            # Half a surrogate pair has no bytes.
            return value.encode("utf-8", "backslashreplace").decode("utf-8")
        case Decimal():
            fits = value.is_finite() and value.adjusted() < _DIGITS
            return value if fits else str(value)
        case Mapping():
            return {_plain(str(name)): _plain(member) for name, member in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {member.name: _plain(getattr(value, member.name)) for member in fields(value)}
        case _ if hasattr(value, "_asdict"):
            return _plain(value._asdict())
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in value]
        case _:
            return _plain(str(value))

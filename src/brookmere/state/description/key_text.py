"""Turns the text of a key, as a URL or a command line has it, into the key's Python value."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from brookmere.record import WindowedKey
from brookmere.serde import BadBytes, Bool, Bytes, Double, Int, Json, Long, Serde, Text, Windowed
from brookmere.serde.json.json_text import from_json
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.structures.dataclass_values import build

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|-?Infinity")
_BOOL = re.compile("true|false")
_TRUTH = {"true": True, "false": False}
_HEX = re.compile(r"0x([0-9a-fA-F]{2})*")
_SHOWN = 80


def key_from_text(serde: Serde, text: str) -> Any:
    """Return the key; raise ValueError, which says what is expected, for a text that is none.

    >>> key_from_text(Bytes(), "0x00ff"), key_from_text(Long(), "17")
    (b'\\x00\\xff', 17)
    """
    try:
        key = _read(serde, text)
        # The serde knows best which values are its own, such as the range of its numbers.
        if serde.serialize(key) is None:
            raise ValueError("nothing, and a row has a key")
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"the key {text[:_SHOWN]!r} does not fit: expected {expected(serde)}, found {error}"
        ) from None
    return key


def prefix_from_text(serde: Serde, text: str) -> str | bytes:
    """Return how the serialised keys begin: text itself, or hexadecimal digits where keys are no text."""
    if isinstance(serde, Text | Json | SparkJson):
        return text
    try:
        return bytes.fromhex(_matching(_HEX, text)[2:])
    except ValueError as error:
        raise ValueError(
            f"the prefix does not fit: expected the first bytes of keys, hexadecimal behind 0x, found {error}"
        ) from None


def expected(serde: Serde) -> str:
    """Return how keys of a serde are written as text."""
    match serde:
        case Text():
            return "text"
        case Int():
            return "a whole number of 32 bits"
        case Long():
            return "a whole number of 64 bits"
        case Double():
            return "a number, NaN, Infinity or -Infinity"
        case Bool():
            return "true or false"
        case Bytes():
            return "bytes in hexadecimal digits behind 0x"
        case Windowed():
            return 'JSON such as {"key": ..., "start": 0, "end": 5000}'
        case _:
            return "JSON"


def _read(serde: Serde, text: str) -> Any:
    match serde:
        case Text():
            return text
        case Int() | Long():
            return int(_matching(_WHOLE, text))
        case Double():
            return float(_matching(_NUMBER, text))
        case Bool():
            return _TRUTH[_matching(_BOOL, text)]
        case Bytes():
            return bytes.fromhex(_matching(_HEX, text)[2:])
        case Json():
            return serde.from_parsed(from_json(text.encode(), parse_float=serde.parse_float))
        case SparkJson():
            return _read_typed(serde, text)
        case Windowed():
            return _read_windowed(serde, text)
        case _:
            return _read_other(serde, text)


def _read_typed(serde: SparkJson, text: str) -> Any:
    """Read JSON, or text without its quotes, such as a date."""
    try:
        return serde.from_parsed(from_json(text.encode(), parse_float=Decimal))
    except BadBytes as error:
        try:
            return serde.from_parsed(text)
        except BadBytes:
            raise error from None


def _read_windowed(serde: Windowed, text: str) -> WindowedKey:
    found = from_json(text.encode())
    if not isinstance(found, dict) or found.keys() != {"key", "start", "end"}:
        raise ValueError(text[:_SHOWN])
    key = found["key"]
    text = key if isinstance(key, str) else json.dumps(key)
    return WindowedKey(_read(serde.inner, text), found["start"], found["end"])


def _read_other(serde: Serde, text: str) -> Any:
    """Read a key whose type only its serde knows: as JSON, or as the text itself if that fits better."""
    try:
        parsed = from_json(text.encode())
        shape = getattr(serde, "_shape", None)
        key = parsed if shape is None else build(shape, parsed)
        serde.serialize(key)
    except (BadBytes, TypeError, ValueError, AttributeError) as error:
        try:
            serde.serialize(text)
        except (TypeError, ValueError, AttributeError):
            raise ValueError(str(error)) from None
        return text
    return key


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(repr(text[:_SHOWN]))
    return text

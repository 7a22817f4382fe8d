"""Keys as text, in URLs and on the command line."""

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
    """Return the key, or raise a ValueError that says what was expected.

    >>> key_from_text(Bytes(), "0x00ff"), key_from_text(Long(), "17")
    (b'\\x00\\xff', 17)
    """
    try:
        key = _read(serde, text)
        # The serde decides which values are valid, for example the range of its numbers.
        if serde.serialize(key) is None:
            raise ValueError("nothing, but a row always has a key")
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"the key {text[:_SHOWN]!r} does not fit: expected {expected(serde)}, found {error}"
        ) from None
    return key


def prefix_from_text(serde: Serde, text: str) -> str | bytes:
    """Return the prefix of serialised keys: the text itself, or hexadecimal digits if keys are not text."""
    if isinstance(serde, Text | Json | SparkJson):
        return text
    try:
        return bytes.fromhex(_matching(_HEX, text)[2:])
    except ValueError as error:
        raise ValueError(
            f"the prefix does not fit: expected the first bytes of keys as 0x and hexadecimal digits, "
            f"found {error}"
        ) from None


def expected(serde: Serde) -> str:
    """Describe the text form of a serde's keys."""
    match serde:
        case Text():
            return "text"
        case Int():
            return "a 32-bit integer"
        case Long():
            return "a 64-bit integer"
        case Double():
            return "a number, NaN, Infinity or -Infinity"
        case Bool():
            return "true or false"
        case Bytes():
            return "0x and hexadecimal digits"
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
    """Read JSON; a text such as a date may omit its quotes."""
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
    """Read a key whose type only its serde knows: as JSON, or as plain text if the serde accepts that."""
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

"""Turns the text of a key in a URL into the key's Python value, as its serde has it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote_to_bytes

from brookmere.serde import BadBytes, Bool, Bytes, Double, Int, Json, Long, Serde, Text
from brookmere.serde.built import build
from brookmere.serde.json_text import from_json
from brookmere.serve.problems import Problem

_WHOLE = re.compile(r"-?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|NaN|-?Infinity")
_TRUTH = {"true": True, "false": False}
_HEX = re.compile(r"0x([0-9a-fA-F]{2})*")


def key_from_text(serde: Serde, text: str) -> Any:
    """Return the key, or raise the Problem that says what is expected.

    >>> from brookmere.serde import Bytes
    >>> key_from_text(Bytes(), "0x00ff")
    b'\\x00\\xff'
    """
    try:
        key = _read(serde, text)
        # The serde knows best which values are its own, such as the range of its numbers.
        serde.serialize(key)
    except (TypeError, ValueError) as error:
        reason = str(error)
    else:
        return key
    detail = f"The key {text!r} does not fit: expected {expected(serde)}. Found: {reason}"
    raise Problem(422, "invalid-key", detail, {"expected": expected(serde)})


def expected(serde: Serde) -> str:
    """Return how keys of a serde are written in a URL."""
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
        case _:
            return "JSON"


def path_text(path: str, raw_path: bytes | None, skipped: str) -> str:
    """Return what stands in a path behind `skipped`, where bytes that are no UTF-8 are refused.

    The server puts U+FFFD in the place of such bytes, and that would be another key.
    """
    text = path[len(skipped) :]
    if "\ufffd" in text and raw_path is not None:
        try:
            unquote_to_bytes(raw_path.partition(b"?")[0]).decode("utf-8")
        except UnicodeDecodeError as error:
            raise Problem(422, "invalid-key", f"The path is no UTF-8: {error.reason}.") from None
    return text


def _read(serde: Serde, text: str) -> Any:
    match serde:
        case Text():
            return text
        case Int() | Long():
            return int(_matching(_WHOLE, text))
        case Double():
            return float(_matching(_NUMBER, text))
        case Bool():
            if text not in _TRUTH:
                raise ValueError("neither true nor false")
            return _TRUTH[text]
        case Bytes():
            return bytes.fromhex(_matching(_HEX, text)[2:])
        case Json():
            return serde.from_parsed(from_json(text.encode("utf-8"), parse_float=serde.parse_float))
        case _:
            return _read_other(serde, text)


def _read_other(serde: Serde, text: str) -> Any:
    """Read a key whose type only its serde knows: as JSON, or as the text itself if that fits better."""
    try:
        parsed = from_json(text.encode("utf-8"))
        shape = getattr(serde, "_shape", None)
        key = parsed if shape is None else build(shape, parsed)
        serde.serialize(key)
    except (BadBytes, TypeError, ValueError, AttributeError) as error:
        try:
            serde.serialize(text)
        except (TypeError, ValueError):
            raise ValueError(str(error)) from None
        return text
    return key


def _matching(pattern: re.Pattern[str], text: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(f"{text[:80]!r} is none")
    return text

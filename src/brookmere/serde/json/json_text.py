"""JSON text of plain Python values, as Spark writes it, and a strict reader of JSON."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any, NoReturn

from brookmere.serde.bad_values import BadBytes
from brookmere.serde.utf8 import from_utf8, to_utf8

NOT_FINITE = ("NaN", "Infinity", "-Infinity")
"""How Spark writes the doubles that JSON has no numbers for: as text."""

_DIGITS = 38


def to_json(value: object) -> bytes:
    """Return `value` as UTF-8 JSON without spaces.

    The forms are Spark's: a datetime is ISO-8601 text in UTC with milliseconds, bytes are base64 text,
    a Decimal is a number, and a float that is none (NaN) is text.
    """
    return to_utf8(_write(value, "value"))


def from_json(data: bytes, *, parse_float: Callable[[str], Any] = float) -> Any:
    """Return the Python value of strict UTF-8 JSON; raise BadBytes for anything else."""
    text = from_utf8(data)
    try:
        return _decoder(parse_float).decode(text)
    except json.JSONDecodeError as error:
        raise BadBytes(f"expected JSON, found an error at position {error.pos}: {error.msg}") from None
    except RecursionError:
        raise BadBytes("expected JSON, found it nested too deeply") from None
    except BadBytes:
        raise
    except ValueError as error:
        raise BadBytes(f"expected JSON: {error}") from None


def json_name(value: Any) -> str:
    """Return how a parsed JSON value is called in a message."""
    match value:
        case dict():
            return "an object"
        case list():
            return "an array"
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)


@lru_cache
def _decoder(parse_float: Callable[[str], Any]) -> json.JSONDecoder:
    # `json.loads` would make one for every call.
    return json.JSONDecoder(parse_float=parse_float, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise BadBytes(f"expected JSON, found {constant}, which is not a JSON number")


def _write(value: object, path: str) -> str:
    match value:
        case dict():
            return _write_object(value, path)
        case list():
            return _write_array(value, path)
        # A named tuple or a Row has names, which an array would lose: only plain tuples are arrays.
        case tuple() if type(value) is tuple:
            return _write_array(value, path)
        case _ if is_dataclass(value) and not isinstance(value, type):
            members = {member.name: getattr(value, member.name) for member in fields(value)}
            return _write_object(members, path)
        case _:
            return _write_scalar(value, path)


def _write_scalar(value: object, path: str) -> str:
    match value:
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            return int.__repr__(value)
        case float():
            return _write_float(value)
        case Decimal():
            return _write_decimal(value, path)
        case datetime():
            return f'"{_utc(value)}"'
        case date():
            return f'"{value.isoformat()}"'
        case bytes():
            return f'"{base64.b64encode(value).decode("ascii")}"'
        case _:
            raise TypeError(
                f"{path} has no JSON form: found {type(value).__name__}; "
                "convert it to a dict, list, text, number, bool, datetime, date, Decimal or dataclass"
            )


def _write_object(members: dict[Any, Any], path: str) -> str:
    parts = []
    for name, member in members.items():
        if not isinstance(name, str):
            raise TypeError(
                f"{path} has a field name that is not text: found {type(name).__name__} {name!r}; "
                "convert it with str(...)"
            )
        parts.append(f"{json.dumps(name, ensure_ascii=False)}:{_write(member, f'{path}.{name}')}")
    return f"{{{','.join(parts)}}}"


def _write_array(elements: list[Any] | tuple[Any, ...], path: str) -> str:
    return f"[{','.join(_write(element, f'{path}[{index}]') for index, element in enumerate(elements))}]"


def _write_float(value: float) -> str:
    if math.isfinite(value):
        return float.__repr__(value)
    if math.isnan(value):
        return '"NaN"'
    return '"Infinity"' if value > 0 else '"-Infinity"'


def _write_decimal(value: Decimal, path: str) -> str:
    if not value.is_finite() or value.adjusted() >= _DIGITS:
        raise ValueError(f"{path} is not a decimal of {_DIGITS} digits: found {value}; use a float or text")
    return format(value, "f")


def _utc(moment: datetime) -> str:
    # A datetime without a zone is taken as UTC: the machine's own zone must not change what is written.
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"

"""Reads parsed JSON as Python values of a Spark type, and refuses what Spark refuses."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from brookmere.serde.bad_values import BadBytes
from brookmere.serde.json.json_text import json_name
from brookmere.serde.json.spark_writer import DIGITS, decimal_scale, single

Read = Callable[[Any, str], Any]
"""Returns the value; the second argument is its path, for messages."""

_WHOLE = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_NOT_FINITE = ("NaN", "Infinity", "+Infinity", "-Infinity", "INF", "+INF", "-INF")


def reader(kind: Any, *, nullable: bool = True) -> Read:
    """Return what reads values of a type, which is given in Spark's JSON form. Fractions come as Decimal."""
    inner = _reader(kind)

    def read(value: Any, path: str) -> Any:
        if value is not None:
            return inner(value, path)
        if nullable:
            return None
        raise BadBytes(f"{path} is null or absent")

    return read


def _reader(kind: Any) -> Read:
    if isinstance(kind, dict):
        return _parts(kind)
    if kind in _WHOLE:
        return _whole(_WHOLE[kind])
    if kind.startswith("decimal"):
        return _decimal(kind)
    return _SCALARS.get(kind, _anything)


def _parts(kind: dict[str, Any]) -> Read:
    match kind["type"]:
        case "struct":
            return _struct(
                [(f["name"], reader(f["type"], nullable=f["nullable"])) for f in kind["fields"]]
            )  # fmt: skip
        case "array":
            return _array(reader(kind["elementType"], nullable=kind["containsNull"]))
        case "map":
            return _map(kind["keyType"], reader(kind["valueType"], nullable=kind["valueContainsNull"]))
        case _:
            return _anything


def _struct(members: list[tuple[str, Read]]) -> Read:
    def read(value: Any, path: str) -> Any:
        if type(value) is not dict:
            raise _unfit(path, "an object", value)
        return {name: each(value.get(name), name) for name, each in members}

    return read


def _array(element: Read) -> Read:
    def read(value: Any, path: str) -> Any:
        if type(value) is not list:
            raise _unfit(path, "an array", value)
        return [element(item, path) for item in value]

    return read


def _map(key: Any, member: Read) -> Read:
    keys: Callable[[str], Any] = {
        "byte": int, "short": int, "integer": int, "long": int, "double": float, "float": float,
    }.get(key, str)  # fmt: skip

    def read(value: Any, path: str) -> Any:
        if type(value) is not dict:
            raise _unfit(path, "an object", value)
        try:
            return {keys(name): member(part, name) for name, part in value.items()}
        except BadBytes:
            raise
        except ValueError:
            raise _unfit(path, f"keys of the type {key}", value) from None

    return read


def _whole(bits: int) -> Read:
    low, high = -(1 << bits - 1), 1 << bits - 1

    def read(value: Any, path: str) -> Any:
        if type(value) is not int or not low <= value < high:
            raise _unfit(path, f"a whole number of {bits // 8} bytes", value)
        return value

    return read


def _decimal(kind: str) -> Read:
    scale = decimal_scale(kind)
    digits = int(kind.partition("(")[2].partition(",")[0])
    unit = Decimal(1).scaleb(-scale)

    def read(value: Any, path: str) -> Any:
        if type(value) not in (int, Decimal):
            raise _unfit(path, f"a number that fits {kind}", value)
        try:
            found = Decimal(value).quantize(unit, ROUND_HALF_UP, DIGITS)
        except InvalidOperation:
            raise _unfit(path, f"a number that fits {kind}", value) from None
        if found and found.adjusted() >= digits - scale:
            raise _unfit(path, f"a number that fits {kind}", value)
        return found

    return read


def _text(value: Any, path: str) -> Any:  # noqa: ARG001 - one of the readers
    # Where text is expected, Spark reads anything else as its text.
    return value if type(value) is str else json.dumps(_anything(value, ""), separators=(",", ":"))


def _bool(value: Any, path: str) -> Any:
    if type(value) is not bool:
        raise _unfit(path, "true or false", value)
    return value


def _double(value: Any, path: str) -> Any:
    if type(value) in (int, Decimal) or value in _NOT_FINITE:
        try:
            return float(value)
        except OverflowError:
            raise _unfit(path, "a double", value) from None
    raise _unfit(path, "a number", value)


def _float(value: Any, path: str) -> Any:
    return single(_double(value, path))


def _binary(value: Any, path: str) -> Any:
    try:
        return base64.b64decode(_text_of(value, path, "base64 text"), validate=True)
    except ValueError:
        raise _unfit(path, "base64 text", value) from None


def _date(value: Any, path: str) -> Any:
    try:
        return date.fromisoformat(_text_of(value, path, "ISO-8601 text of a day"))
    except ValueError:
        raise _unfit(path, "ISO-8601 text of a day", value) from None


def _moment(value: Any, path: str) -> Any:
    found = _local_moment(value, path)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _local_moment(value: Any, path: str) -> Any:
    try:
        return datetime.fromisoformat(_text_of(value, path, "ISO-8601 text of a time"))
    except ValueError:
        raise _unfit(path, "ISO-8601 text of a time", value) from None


def _text_of(value: Any, path: str, expected: str) -> str:
    if type(value) is not str:
        raise _unfit(path, expected, value)
    return value


def _anything(value: Any, path: str) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {name: _anything(part, path) for name, part in value.items()}
    return [_anything(part, path) for part in value] if isinstance(value, list) else value


_SCALARS: dict[str, Read] = {
    "string": _text,
    "boolean": _bool,
    "double": _double,
    "float": _float,
    "binary": _binary,
    "date": _date,
    "timestamp": _moment,
    "timestamp_ntz": _local_moment,
}


def _unfit(path: str, expected: str, found: Any) -> BadBytes:
    return BadBytes(f"{path} does not fit: expected {expected}, found {json_name(found)}")

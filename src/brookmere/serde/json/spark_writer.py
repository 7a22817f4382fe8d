"""Writes Python values of a Spark type as JSON, character by character as Spark does."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

Write = Callable[[Any, str], str]
"""Returns the text of a value; the second argument is its path, for messages."""

DIGITS = Context(prec=76)
_WHOLE = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_CONTROL = re.compile(r"\\\\|\\u00[01][0-9a-f]")


def writer(kind: Any) -> Write:
    """Return what writes values of a type, which is given in Spark's JSON form.

    Fields are in the order of the type, and absent ones are null, so equal values have equal text.
    """
    inner = _writer(kind)
    return lambda value, path: "null" if value is None else inner(value, path)


def _writer(kind: Any) -> Write:
    if isinstance(kind, dict):
        return _parts(kind)
    if kind in _WHOLE:
        return _whole(_WHOLE[kind])
    if kind.startswith("decimal"):
        return _decimal(decimal_scale(kind))
    return _SCALARS.get(kind, _anything)


def _parts(kind: dict[str, Any]) -> Write:
    match kind["type"]:
        case "struct":
            return _struct([(field["name"], writer(field["type"])) for field in kind["fields"]])
        case "array":
            return _array(writer(kind["elementType"]))
        case "map":
            return _map(writer(kind["keyType"]), writer(kind["valueType"]))
        case _:
            return _anything


def _struct(members: list[tuple[str, Write]]) -> Write:
    names = [f"{text(name)}:" for name, _ in members]

    def write(value: Any, path: str) -> str:
        if is_dataclass(value) and not isinstance(value, type):
            found = [getattr(value, name, None) for name, _ in members]
        elif isinstance(value, dict):
            unknown = value.keys() - {name for name, _ in members}
            if unknown:
                raise TypeError(f"{path} has no field {sorted(map(str, unknown))[0]!r}; leave it out")
            found = [value.get(name) for name, _ in members]
        else:
            raise _misfit(path, "a dict or a dataclass", value)
        parts = (
            front + each(part, f"{path}.{name}")
            for front, (name, each), part in zip(names, members, found, strict=True)
        )
        return f"{{{','.join(parts)}}}"

    return write


def _array(element: Write) -> Write:
    def write(value: Any, path: str) -> str:
        if not isinstance(value, list | tuple):
            raise _misfit(path, "a list", value)
        return f"[{','.join(element(item, f'{path}[{index}]') for index, item in enumerate(value))}]"

    return write


def _map(key: Write, member: Write) -> Write:
    def write(value: Any, path: str) -> str:
        if not isinstance(value, dict):
            raise _misfit(path, "a dict", value)
        parts = []
        for name, part in value.items():
            shown = key(name, path)
            quoted = shown if shown.startswith('"') else text(shown)
            parts.append(f"{quoted}:{member(part, f'{path}.{name}')}")
        return f"{{{','.join(parts)}}}"

    return write


def text(value: str) -> str:
    """Return JSON text in quotes; Java has capitals in the numbers of control characters."""
    found = json.dumps(value, ensure_ascii=False)
    return _CONTROL.sub(lambda m: m[0] if m[0][1] == "\\" else f"\\u{m[0][2:].upper()}", found)


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise _misfit(path, "text", value)
    return text(value)


def _bool(value: Any, path: str) -> str:
    if not isinstance(value, bool):
        raise _misfit(path, "a bool", value)
    return "true" if value else "false"


def _whole(bits: int) -> Write:
    def write(value: Any, path: str) -> str:
        if not isinstance(value, int) or isinstance(value, bool):
            raise _misfit(path, "an int", value)
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise ValueError(f"{path} does not fit {bits // 8} bytes: found {value}")
        return str(int(value))

    return write


def _decimal(scale: int) -> Write:
    unit = Decimal(1).scaleb(-scale)

    def write(value: Any, path: str) -> str:
        if not isinstance(value, int | Decimal) or isinstance(value, bool):
            raise _misfit(path, "a Decimal", value)
        return str(Decimal(value).quantize(unit, ROUND_HALF_UP, DIGITS))

    return write


def _double(value: Any, path: str) -> str:
    return _java(_number(value, path), repr)


def _float(value: Any, path: str) -> str:
    return _java(single(_number(value, path)), _short)


def _number(value: Any, path: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _misfit(path, "a number", value)
    return float(value)


def _java(value: float, shortest: Callable[[float], str]) -> str:
    if not math.isfinite(value):
        return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
    sign, digits, exponent = Decimal(shortest(value)).normalize().as_tuple()
    figures, minus = "".join(map(str, digits)), "-" if sign else ""
    power = len(figures) + int(exponent) - 1
    if value == 0:
        return f"{minus}0.0"
    if -3 <= power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{figures}"
    if 0 <= power < 7:
        return f"{minus}{figures[: power + 1].ljust(power + 1, '0')}.{figures[power + 1 :] or '0'}"
    return f"{minus}{figures[0]}.{figures[1:] or '0'}E{power}"


def single(value: float) -> float:
    """Return the nearest number of 4 bytes, which is infinite where there is none."""
    try:
        found: float = struct.unpack(">f", struct.pack(">f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return found


def _short(value: float) -> str:
    tries = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(each for each in tries if single(float(each)) == value)


def _binary(value: Any, path: str) -> str:
    if not isinstance(value, bytes | bytearray):
        raise _misfit(path, "bytes", value)
    return f'"{base64.b64encode(value).decode("ascii")}"'


def _date(value: Any, path: str) -> str:
    if not isinstance(value, date) or isinstance(value, datetime):
        raise _misfit(path, "a date", value)
    return f'"{value.isoformat()}"'


def _moment(value: Any, path: str) -> str:
    if not isinstance(value, datetime):
        raise _misfit(path, "a datetime", value)
    # Without a zone it is taken as UTC: the machine's own must not change what is written.
    moment = value if value.tzinfo is None else value.astimezone(UTC)
    return f'"{moment.replace(tzinfo=None).isoformat(timespec="milliseconds")}Z"'


def _local_moment(value: Any, path: str) -> str:
    if not isinstance(value, datetime):
        raise _misfit(path, "a datetime", value)
    return f'"{value.replace(tzinfo=None).isoformat(timespec="milliseconds")}"'


def _anything(value: Any, path: str) -> str:  # noqa: ARG001 - one of the writers
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_SCALARS: dict[str, Write] = {
    "string": _text,
    "boolean": _bool,
    "double": _double,
    "float": _float,
    "binary": _binary,
    "date": _date,
    "timestamp": _moment,
    "timestamp_ntz": _local_moment,
}


def decimal_scale(kind: str) -> int:
    """Return how many digits a type such as decimal(10,2) has after the point.

    >>> decimal_scale("decimal(10,2)")
    2
    """
    return int(kind.rstrip(")").partition(",")[2] or 0)


def _misfit(path: str, expected: str, found: object) -> TypeError:
    return TypeError(f"{path} does not fit: expected {expected}, found {type(found).__name__}; convert it")

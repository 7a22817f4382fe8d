"""Converts scalars that user code returns to the form of the wire, one function per type."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_float
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from numbers import Integral, Real
from typing import Any

Send = Callable[[Any], Any]

_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_FIRST_DAY = date(1970, 1, 1).toordinal()
_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DIGITS = Context(prec=76)


def scalar_sender(kind: str, what: str) -> Send:
    """Return what checks and converts a value of a type without parts; `what` names it in messages."""
    if kind in _BITS:
        return _whole(_BITS[kind], what)
    if kind.startswith("decimal"):
        return _decimal(kind, what)
    if kind.startswith(("string", "char", "varchar")):
        return _text(what)
    if kind not in _SCALARS:
        raise ValueError(f"{what} has a type that cannot leave Python code: {kind}")
    return _SCALARS[kind](what)


def truth(answer: Any) -> bool | None:
    """Return a boolean, also one of numpy, as True or False; None for anything else."""
    if answer is True or answer is False:
        return bool(answer)
    if getattr(getattr(answer, "dtype", None), "kind", None) == "b" and getattr(answer, "ndim", 1) == 0:
        return bool(answer)
    return None


def shown(value: Any) -> str:
    """Return a short form of a value for messages: its type and its first characters."""
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 80 else text[:77] + '...'}"


def unfit(what: str, expected: str, found: Any, remedy: str = "convert it, or change returns=") -> TypeError:
    return TypeError(f"{what} does not fit: expected {expected}, found {shown(found)}; {remedy}")


def _text(what: str) -> Send:
    def send(value: Any) -> Any:
        if type(value) is str or value is None:
            return value
        if isinstance(value, str):
            return str.__str__(value)
        raise unfit(what, "text", value)

    return send


def _whole(bits: int, what: str) -> Send:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def send(value: Any) -> Any:
        if type(value) is not int:
            if value is None:
                return None
            if isinstance(value, bool) or not isinstance(value, Integral):
                raise unfit(what, "an integer", value)
            value = int(value)
        if low <= value <= high:
            return value
        raise ValueError(
            f"{what} does not fit {bits // 8} bytes: found {value}; use a wider type in returns="
        )

    return send


def _double(what: str) -> Send:
    def send(value: Any) -> Any:
        if type(value) is float or value is None:
            return value
        if not isinstance(value, bool) and isinstance(value, Real):
            return float(value)
        raise unfit(what, "a number", value)

    return send


def _single(what: str) -> Send:
    double = _double(what)

    def send(value: Any) -> Any:
        # The next function sees the number as stored in four bytes, wherever it runs.
        found = double(value)
        return None if found is None else c_float(found).value

    return send


def _bool(what: str) -> Send:
    def send(value: Any) -> Any:
        if value is True or value is False or value is None:
            return value
        found = truth(value)
        if found is None:
            raise unfit(what, "True or False", value)
        return found

    return send


def _binary(what: str) -> Send:
    def send(value: Any) -> Any:
        if type(value) is bytes or value is None:
            return value
        if isinstance(value, bytes | bytearray | memoryview):
            return bytes(value)
        raise unfit(what, "bytes", value)

    return send


def _date(what: str) -> Send:
    def send(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, date) or isinstance(value, datetime):
            raise unfit(what, "a date", value)
        return value.toordinal() - _FIRST_DAY

    return send


def _time(what: str) -> Send:
    def send(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, datetime):
            raise unfit(what, "a datetime", value)
        # A time without a zone is one of UTC, as in JSON.
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return (aware - _START) // _MICROSECOND

    return send


def _local_time(what: str) -> Send:
    def send(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, datetime) or value.tzinfo is not None:
            raise unfit(what, "a datetime without a time zone", value)
        return (value.replace(tzinfo=UTC) - _START) // _MICROSECOND

    return send


def _decimal(kind: str, what: str) -> Send:
    digits, scale = (int(part) for part in kind.partition("(")[2].rstrip(")").split(","))
    unit = Decimal(1).scaleb(-scale)

    def send(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, int | Decimal) or isinstance(value, bool):
            raise unfit(what, f"a Decimal that fits {kind}", value)
        try:
            found = Decimal(value).quantize(unit, ROUND_HALF_UP, _DIGITS)
        except InvalidOperation:
            found = None
        if found is None or not found.is_finite() or (found and found.adjusted() >= digits - scale):
            raise ValueError(f"{what} does not fit {kind}: found {value}; use a wider type in returns=")
        return format(found, "f")

    return send


def _nothing(what: str) -> Send:
    def send(value: Any) -> Any:
        if value is not None:
            raise unfit(what, "None", value)

    return send


_SCALARS: dict[str, Callable[[str], Send]] = {
    "boolean": _bool,
    "double": _double,
    "float": _single,
    "binary": _binary,
    "date": _date,
    "timestamp": _time,
    "timestamp_ntz": _local_time,
    "void": _nothing,
}

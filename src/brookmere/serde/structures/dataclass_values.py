"""Values of dataclasses: built from parsed JSON or dicts, checked before they are written, as dicts."""

from __future__ import annotations

import base64
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from brookmere.serde.bad_values import BadBytes
from brookmere.serde.json.json_text import NOT_FINITE, json_name
from brookmere.serde.structures.dataclass_shapes import (
    ListOf,
    MapOf,
    Scalar,
    Shape,
    Slot,
    StructOf,
    type_name,
)

_LONG = range(-(2**63), 2**63)
_ACCEPTED: dict[type, tuple[type, ...]] = {float: (int, float), Decimal: (int, Decimal)}
_SCALE = 18
_WHOLE_DIGITS = 20


def read(shape: Shape, value: Any, path: str) -> Any:
    """Return the Python value for a parsed JSON value, or raise BadBytes naming the field.

    Fractions are expected as Decimal, so that a decimal field loses no digit.
    """
    match shape:
        case Scalar(python):
            return _read_scalar(python, value, path)
        case ListOf(element):
            if not isinstance(value, list):
                raise _unfit(path, "an array", value)
            return [_read_slot(element, item, f"{path}[{index}]") for index, item in enumerate(value)]
        case MapOf(inner):
            if not isinstance(value, dict):
                raise _unfit(path, "an object", value)
            return {name: _read_slot(inner, item, f"{path}.{name}") for name, item in value.items()}
        case StructOf(python, slots):
            if not isinstance(value, dict):
                raise _unfit(path, "an object", value)
            members = {name: _read_slot(slot, value.get(name), f"{path}.{name}") for name, slot in slots}
            return _build(python, members, path)


def check(shape: Shape, value: Any, path: str) -> None:
    """Raise TypeError or ValueError, naming the field, where `value` is not of this shape."""
    match shape:
        case Scalar(python):
            _check_scalar(python, value, path)
        case ListOf(element):
            if not isinstance(value, list | tuple):
                raise _misfit(path, "a list", value)
            for index, item in enumerate(value):
                _check_slot(element, item, f"{path}[{index}]")
        case MapOf(inner):
            if not isinstance(value, dict):
                raise _misfit(path, "a dict", value)
            for name, item in value.items():
                _check_slot(inner, item, f"{path}.{name}")
        case StructOf():
            _check_struct(shape, value, path)


def _read_slot(slot: Slot, value: Any, path: str) -> Any:
    if value is not None:
        return read(slot.shape, value, path)
    if slot.optional:
        return None
    # An absent field and a null are the same to Spark, so defaults of the dataclass do not apply.
    raise BadBytes(f"{path} is null or absent; declare it | None if it may be")


def _read_scalar(python: type, value: Any, path: str) -> Any:
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if python is float and is_number:
        return _read_float(value, path)
    if python is float and value in NOT_FINITE:
        return float(value)
    if python is Decimal and is_number and _fits_decimal(Decimal(value)):
        return Decimal(value)
    if python is int and type(value) is int and value in _LONG:
        return value
    if python in (str, bool) and type(value) is python:
        return value
    if python in (bytes, date, datetime) and isinstance(value, str):
        return _read_text(python, value, path)
    raise _unfit(path, _expected(python), value)


def _read_float(value: int | Decimal, path: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise _unfit(path, "a double", value) from None


def _read_text(python: type, text: str, path: str) -> Any:
    try:
        if python is bytes:
            return base64.b64decode(text, validate=True)
        if python is date:
            return datetime.strptime(text, "%Y-%m-%d").date()
        moment = datetime.fromisoformat(text)
        # The machine's own zone must not change what is read.
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _unfit(path, _expected(python), text) from None


def _build(python: type, members: dict[str, Any], path: str) -> Any:
    try:
        return python(**members)
    except (TypeError, ValueError) as error:
        raise BadBytes(f"{path} was refused by {python.__name__}: {error}") from error


def _check_struct(shape: StructOf, value: Any, path: str) -> None:
    if not isinstance(value, dict | shape.python):
        raise _misfit(path, f"a {shape.python.__name__} or a dict", value)
    for name, slot in shape.fields:
        member = value.get(name) if isinstance(value, dict) else getattr(value, name)
        _check_slot(slot, member, f"{path}.{name}")


def _check_slot(slot: Slot, value: Any, path: str) -> None:
    if value is not None:
        check(slot.shape, value, path)
    elif not slot.optional:
        raise TypeError(f"{path} is None or absent; give it a value, or declare it | None")


def _check_scalar(python: type, value: Any, path: str) -> None:
    accepted = _ACCEPTED.get(python, (python,))
    is_bool = isinstance(value, bool) and python is not bool
    is_moment = isinstance(value, datetime) and python is date
    if not isinstance(value, accepted) or is_bool or is_moment:
        raise _misfit(path, type_name(python), value)
    if python is int and value not in _LONG:
        raise ValueError(f"{path} does not fit 8 bytes: found {value}; declare it Decimal or str")
    if python is Decimal and isinstance(value, int | Decimal) and not _fits_decimal(Decimal(value)):
        raise ValueError(f"{path} does not fit decimal(38,18): found {value}; round it, or declare it str")


def _fits_decimal(value: Decimal) -> bool:
    if not value.is_finite():
        return False
    return value == 0 or (value.adjusted() < _WHOLE_DIGITS and _last_digit(value) >= -_SCALE)


def _last_digit(value: Decimal) -> int:
    _, digits, exponent = value.as_tuple()
    trailing = len(digits) - len("".join(map(str, digits)).rstrip("0"))
    return int(exponent) + trailing


def _expected(python: type) -> str:
    names = {
        str: "text",
        int: "a whole number of 8 bytes",
        float: "a number",
        bool: "true or false",
        bytes: "base64 text",
        datetime: "ISO-8601 text of a time",
        date: "ISO-8601 text of a day",
        Decimal: "a number that fits decimal(38,18)",
    }
    return names[python]


def _unfit(path: str, expected: str, found: Any) -> BadBytes:
    return BadBytes(f"{path} does not fit: expected {expected}, found {json_name(found)}")


def _misfit(path: str, expected: str, found: Any) -> TypeError:
    kind = type(found).__name__
    return TypeError(f"{path} does not fit: expected {expected}, found {kind}; convert it first")


def build(shape: Shape, value: Any) -> Any:
    """Return a value with dataclasses where its shape has them; raise BadBytes where one refuses."""
    match shape:
        case ListOf(Slot(inner)):
            return [None if item is None else build(inner, item) for item in value]
        case MapOf(Slot(inner)):
            return {name: None if item is None else build(inner, item) for name, item in value.items()}
        case StructOf(python, slots):
            members = {name: _built_member(slot, value.get(name)) for name, slot in slots}
            try:
                return python(**members)
            except (TypeError, ValueError) as error:
                raise BadBytes(f"the value was refused by {python.__name__}: {error}") from error
        case _:
            return value


def as_plain(value: Any) -> Any:
    """Return a value with dicts in the place of dataclasses."""
    if is_dataclass(value) and not isinstance(value, type):
        return {member.name: as_plain(getattr(value, member.name)) for member in fields(value)}
    if isinstance(value, dict):
        return {name: as_plain(member) for name, member in value.items()}
    if type(value) in (list, tuple):
        return type(value)(as_plain(item) for item in value)
    return value


def _built_member(slot: Slot, value: Any) -> Any:
    return None if value is None else build(slot.shape, value)

"""Converts values from the wire into the Python values that user code sees.

Texts, numbers, booleans and bytes are sent as they are. A date is sent as days and a time as microseconds
since 1970, a decimal as text, a struct as a dict or as the tuple of its fields. User code sees date,
datetime (aware, in UTC), Decimal, dict or dataclass. User code gets a new object for a value with parts.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from brookmere.record import WindowedKey
from brookmere.worker.protocol.stage_code import TypeCode
from brookmere.worker.types.annotations import Each, Made, resolved
from brookmere.worker.types.returned_values import writer

__all__ = ["Convert", "copier", "reader", "writer"]

Convert = Callable[[Any], Any]

_FIRST_DAY = date(1970, 1, 1).toordinal()
_START = datetime(1970, 1, 1, tzinfo=UTC)
_LOCAL_START = _START.replace(tzinfo=None)


def reader(code: TypeCode | None) -> Convert | None:
    """Return the conversion from the wire to a Python value; None if there is nothing to convert."""
    if code is None:
        return None
    if code.is_pickled:
        return _nullable(pickle.loads)
    make = _windowed if code.is_windowed else _maker
    return _nullable(make(json.loads(code.json), resolved(code.made)))


def copier(code: TypeCode | None) -> Convert | None:
    """Return the function that copies a value; None if values of the type are immutable."""
    write, read = writer(code), reader(code)
    if code is None or write is None or read is None:
        return None
    return (lambda value: read(write(value))) if code.is_pickled or code.json.startswith("{") else None


def _nullable(make: Convert | None) -> Convert | None:
    if make is None:
        return None
    return lambda value: None if value is None else make(value)


def _maker(kind: Any, made: object) -> Convert | None:
    if isinstance(kind, dict):
        match kind["type"]:
            case "struct":
                return _struct(kind, made if isinstance(made, Made) else None)
            case "array":
                return _list(_part(kind["elementType"], made))
            case "map":
                return _map(kind, _part(kind["valueType"], made))
        return None
    return Decimal if kind.startswith("decimal") else _SCALARS.get(kind)


def _part(kind: Any, made: object) -> Convert | None:
    return _nullable(_maker(kind, made.of if isinstance(made, Each) else None))


def _struct(kind: dict[str, Any], made: Made | None) -> Convert:
    parts = dict(made.parts) if made is not None else {}
    names = [member["name"] for member in kind["fields"]]
    converts = {m["name"]: _nullable(_maker(m["type"], parts.get(m["name"]))) for m in kind["fields"]}
    as_dict = _dict(names, [(name, convert) for name, convert in converts.items() if convert is not None])
    return as_dict if made is None else _instance(made.made, names, as_dict)


def _dict(names: list[str], changed: list[tuple[str, Convert]]) -> Convert:
    if not changed:
        return lambda value: value.copy() if type(value) is dict else dict(zip(names, value, strict=True))

    def make(value: Any) -> dict[str, Any]:
        made = value.copy() if type(value) is dict else dict(zip(names, value, strict=True))
        for name, convert in changed:
            made[name] = convert(made[name])
        return made

    return make


def _instance(made: type, names: list[str], as_dict: Convert) -> Convert:
    known = {member.name for member in fields(made) if member.init}
    if all(name in known for name in names):
        return lambda value: made(**as_dict(value))
    return lambda value: made(**{name: part for name, part in as_dict(value).items() if name in known})


def _windowed(kind: dict[str, Any], made: object) -> Convert:
    part = next(member["type"] for member in kind["fields"] if member["name"] == "key")
    as_dict = _dict(["key", "start", "end"], [])
    inner = _nullable(_maker(part, made))

    def make(value: Any) -> WindowedKey:
        found = as_dict(value)
        key = found["key"]
        return WindowedKey(key if inner is None else inner(key), found["start"], found["end"])

    return make


def _list(element: Convert | None) -> Convert:
    return list if element is None else lambda value: [element(item) for item in value]


def _map(kind: dict[str, Any], member: Convert | None) -> Convert:
    key = _key(kind["keyType"])
    if isinstance(kind["keyType"], dict):
        # Maps with such keys are sent as pairs.
        return lambda value: {key(k) if key else k: member(v) if member else v for k, v in value}
    if key is None and member is None:
        return dict
    return lambda value: {key(k) if key else k: member(v) if member else v for k, v in value.items()}


def _key(kind: Any) -> Convert | None:
    """Return the conversion for a map's key: it must be hashable, so a struct or an array becomes a tuple."""
    if not isinstance(kind, dict):
        return _maker(kind, None)
    if kind["type"] == "struct":
        names = [member["name"] for member in kind["fields"]]
        parts = [_nullable(_key(member["type"])) for member in kind["fields"]]
        as_dict = _dict(names, [])
        return lambda value: tuple(
            part(v) if part else v for part, v in zip(parts, as_dict(value).values(), strict=True)
        )
    element = _nullable(_key(kind["elementType"])) if kind["type"] == "array" else None
    return lambda value: tuple(element(item) if element else item for item in value)


def _date(days: int) -> date:
    return date.fromordinal(_FIRST_DAY + days)


def _time(microseconds: int) -> datetime:
    return _START + timedelta(microseconds=microseconds)


def _local_time(microseconds: int) -> datetime:
    return _LOCAL_START + timedelta(microseconds=microseconds)


_SCALARS: dict[str, Convert] = {"date": _date, "timestamp": _time, "timestamp_ntz": _local_time}

"""Protobuf messages from plain Python values, and messages as the kernel shows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from brookmere.serde.protobuf.descriptors import KINDS, TIMESTAMP, WRAPPERS, is_map

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNSIGNED = ("uint64", "fixed64")


def fill(message: Message, value: Any, path: str = "value") -> None:
    """Set the fields of a message from a dict; a None is a field that is not set."""
    descriptor: Descriptor = message.DESCRIPTOR
    if not isinstance(value, dict):
        raise TypeError(f"{path} does not fit: expected a dict, found {type(value).__name__}")
    chosen: dict[str, str] = {}
    for name, member in value.items():
        field = descriptor.fields_by_name.get(name)
        if field is None:
            raise ValueError(f"{path} has the field {name!r}, which {descriptor.full_name} does not have")
        if member is None:
            continue
        oneof = field.containing_oneof
        if oneof is not None and chosen.setdefault(oneof.name, name) != name:
            both = f"{chosen[oneof.name]} and {name}"
            raise ValueError(f"{path} has values for {both}, of which only one may be set")
        _set(message, field, member, f"{path}.{name}")


def shown(message: Message) -> dict[str, Any]:
    """Return the fields of a message; what is not set and could be is None."""
    return {field.name: _member(message, field) for field in message.DESCRIPTOR.fields}


def _set(message: Message, field: FieldDescriptor, value: Any, path: str) -> None:
    try:
        if is_map(field):
            _set_map(getattr(message, field.name), field, value, path)
        elif field.is_repeated:
            for index, item in enumerate(value):
                _add(getattr(message, field.name), field, item, f"{path}[{index}]")
        elif field.message_type is not None:
            inner = getattr(message, field.name)
            inner.SetInParent()
            _fill_part(inner, value, path)
        else:
            setattr(message, field.name, _scalar(field, value, path))
    except TypeError as error:
        raise (
            error if str(error).startswith("value") else TypeError(f"{path} does not fit: {error}")
        ) from None


def _set_map(target: Any, field: FieldDescriptor, value: Any, path: str) -> None:
    entry = field.message_type.fields_by_name
    for name, member in value.items():
        key = _scalar(entry["key"], name, path)
        if entry["value"].message_type is not None:
            _fill_part(target[key], member, f"{path}[{name!r}]")
        else:
            target[key] = _scalar(entry["value"], member, f"{path}[{name!r}]")


def _add(target: Any, field: FieldDescriptor, value: Any, path: str) -> None:
    if field.message_type is not None:
        _fill_part(target.add(), value, path)
    else:
        target.append(_scalar(field, value, path))


def _fill_part(message: Message, value: Any, path: str) -> None:
    name = message.DESCRIPTOR.full_name
    if name == TIMESTAMP:
        if not isinstance(value, datetime):
            raise TypeError(f"{path} does not fit: expected a datetime, found {type(value).__name__}")
        # A datetime without a zone is taken as UTC: the machine's own zone must not change what is written.
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value
        micros = (moment - _EPOCH) // timedelta(microseconds=1)
        message.seconds, message.nanos = micros // 1_000_000, micros % 1_000_000 * 1000
    elif name in WRAPPERS:
        field = message.DESCRIPTOR.fields_by_name["value"]
        message.value = _scalar(field, value, path)
    else:
        fill(message, value, path)


def _scalar(field: FieldDescriptor, value: Any, path: str) -> Any:
    if field.enum_type is not None and isinstance(value, str):
        number = field.enum_type.values_by_name.get(value)
        if number is not None:
            return number.number
        if not field.enum_type.is_closed and value.lstrip("-").isdigit():
            return int(value)
        names = ", ".join(field.enum_type.values_by_name)
        raise ValueError(f"{path} is {value!r}, where the enum {field.enum_type.name} has {names}")
    if isinstance(value, Decimal) and value == int(value):
        return int(value)
    return value


def _member(message: Message, field: FieldDescriptor) -> Any:
    value = getattr(message, field.name)
    if is_map(field):
        inner = field.message_type.fields_by_name["value"]
        return {key: _part(inner, value[key]) for key in value}
    if field.is_repeated:
        return [_part(field, item) for item in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _part(field, value)


def _part(field: FieldDescriptor, value: Any) -> Any:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return str(value) if known is None else known.name
    if field.message_type is None:
        return Decimal(value) if KINDS[field.type][0] in _UNSIGNED else value
    name = field.message_type.full_name
    if name == TIMESTAMP:
        return _EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)
    if name in WRAPPERS:
        return _part(field.message_type.fields_by_name["value"], value.value)
    return shown(value)

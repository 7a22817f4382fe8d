"""Checks beyond the grammar of .proto files: duplicate and reserved numbers and names."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto

from brookmere.registry.schemas.proto.tokens import ProtoTextError


def check_file(file: FileDescriptorProto) -> None:
    """Raise ProtoTextError for the first error found."""
    for enum in file.enum_type:
        _check_enum(enum, proto3=file.syntax == "proto3")
    for message in file.message_type:
        _check_message(message, message.name, proto3=file.syntax == "proto3")


def _check_message(message: DescriptorProto, place: str, *, proto3: bool) -> None:
    _once((field.name for field in message.field), f"{place}: the field name")
    _once((field.number for field in message.field), f"{place}: the field number")
    for field in message.field:
        if any(part.start <= field.number < part.end for part in message.reserved_range):
            raise ProtoTextError(f"{place}: the field {field.name!r} has the reserved number {field.number}")
        if field.name in message.reserved_name:
            raise ProtoTextError(f"{place}: the field name {field.name!r} is reserved")
    for enum in message.enum_type:
        _check_enum(enum, proto3=proto3)
    for nested in message.nested_type:
        _check_message(nested, f"{place}.{nested.name}", proto3=proto3)


def _check_enum(enum: EnumDescriptorProto, *, proto3: bool) -> None:
    if not enum.value:
        raise ProtoTextError(f"the enum {enum.name!r} has no values")
    if proto3 and enum.value[0].number != 0:
        raise ProtoTextError(f"the first value of the enum {enum.name!r} must be 0 in proto3")
    _once((value.name for value in enum.value), f"{enum.name}: the value name")
    if not enum.options.allow_alias:
        _once((value.number for value in enum.value), f"{enum.name}: the value number")


def _once(names: Iterable[str | int], what: str) -> None:
    seen: set[str | int] = set()
    for name in names:
        if name in seen:
            raise ProtoTextError(f"{what} {name!r} is used twice")
        seen.add(name)

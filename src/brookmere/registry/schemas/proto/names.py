"""Resolves the type names of a .proto file to full names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from brookmere.registry.schemas.proto.fields import default_json_name
from brookmere.registry.schemas.proto.known import well_known_file
from brookmere.registry.schemas.proto.tokens import ProtoTextError

MESSAGE = FieldDescriptorProto.TYPE_MESSAGE
ENUM = FieldDescriptorProto.TYPE_ENUM


@dataclass(frozen=True, slots=True)
class ProtoFile:
    """A file and its imports, by name."""

    file: FileDescriptorProto
    imports: Mapping[str, FileDescriptorProto]


def resolve(file: FileDescriptorProto, imports: Mapping[str, FileDescriptorProto]) -> None:
    """Set the full type name, the kind and the JSON name of every field of a parsed file."""
    known = _declared(file)
    for name, imported in imported_files(file, imports).items():
        clash = known.keys() & (names := _declared(imported)).keys()
        if clash:
            raise ProtoTextError(f"{min(clash)!r} is also defined in the imported file {name!r}")
        known.update(names)
    package = f".{file.package}" if file.package else ""
    for message in file.message_type:
        _resolve_message(message, f"{package}.{message.name}", known)
    for extension in file.extension:
        _resolve_field(extension, package, known)
    for service in file.service:
        for method in service.method:
            method.input_type = _full_name(method.input_type, package, known)
            method.output_type = _full_name(method.output_type, package, known)


def imported_files(
    file: FileDescriptorProto, imports: Mapping[str, FileDescriptorProto]
) -> dict[str, FileDescriptorProto]:
    """Return the files whose types a file may use: its imports, and their public imports."""
    found: dict[str, FileDescriptorProto] = {}
    waiting = list(file.dependency)
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        imported = imports.get(name) or well_known_file(name)
        if imported is None:
            raise ProtoTextError(f"the imported file {name!r} is unknown: add it to the references")
        found[name] = imported
        waiting += [imported.dependency[index] for index in imported.public_dependency]
    return found


def _declared(file: FileDescriptorProto) -> dict[str, int]:
    known: dict[str, int] = {}
    package = f".{file.package}" if file.package else ""

    def declare(name: str, kind: int) -> None:
        if name in known:
            raise ProtoTextError(f"{name.removeprefix('.')!r} is defined twice")
        known[name] = kind

    for enum in file.enum_type:
        declare(f"{package}.{enum.name}", ENUM)
    for message in file.message_type:
        _declare_message(message, package, declare)
    return known


def _declare_message(message: DescriptorProto, scope: str, declare: Callable[[str, int], None]) -> None:
    own = f"{scope}.{message.name}"
    declare(own, MESSAGE)
    for enum in message.enum_type:
        declare(f"{own}.{enum.name}", ENUM)
    for nested in message.nested_type:
        _declare_message(nested, own, declare)


def _resolve_message(message: DescriptorProto, scope: str, known: Mapping[str, int]) -> None:
    for field in [*message.field, *message.extension]:
        _resolve_field(field, scope, known)
    for nested in message.nested_type:
        _resolve_message(nested, f"{scope}.{nested.name}", known)


def _resolve_field(field: FieldDescriptorProto, scope: str, known: Mapping[str, int]) -> None:
    if not field.json_name:
        field.json_name = default_json_name(field.name)
    if field.extendee:
        field.extendee = _full_name(field.extendee, scope, known)
    if field.type_name:
        field.type_name = _full_name(field.type_name, scope, known)
        if field.type != FieldDescriptorProto.TYPE_GROUP:
            field.type = known[field.type_name]


def _full_name(name: str, scope: str, known: Mapping[str, int]) -> str:
    if name.startswith("."):
        candidates = [name]
    else:
        parts = scope.split(".")
        candidates = [".".join([*parts[:count], name]) for count in range(len(parts), 0, -1)]
    for candidate in candidates:
        if candidate in known:
            return candidate
    place = scope.removeprefix(".") or "the file"
    raise ProtoTextError(f"the type {name!r}, used by {place}, is not defined")

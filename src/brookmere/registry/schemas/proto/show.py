"""The text of a .proto file's descriptor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)

from brookmere.registry.schemas.proto.fields import LABELS, LARGEST_NUMBER, SCALARS, default_json_name
from brookmere.registry.schemas.proto.show_options import field_options, option_statements, quoted

_LABELS = {label: word for word, label in LABELS.items()}
_SCALARS = {number: word for word, number in SCALARS.items()}
_LARGEST_ENUM = 2**31 - 1


def print_proto(file: FileDescriptorProto) -> str:
    """Return the text of a file, in canonical form.

    >>> from google.protobuf import empty_pb2
    >>> print(print_proto(FileDescriptorProto.FromString(empty_pb2.DESCRIPTOR.serialized_pb)).splitlines()[0])
    syntax = "proto3";
    """
    return "\n".join(_Printer(file).lines()) + "\n"


class _Printer:
    def __init__(self, file: FileDescriptorProto) -> None:
        self._file = file
        self._proto2 = file.syntax in ("", "proto2")

    def lines(self) -> Iterator[str]:
        file = self._file
        yield self._syntax_line()
        if file.package:
            yield f"package {file.package};"
        if file.dependency:
            yield ""
        for index, name in enumerate(file.dependency):
            public = "public " if index in file.public_dependency else ""
            weak = "weak " if index in file.weak_dependency else ""
            yield f"import {public}{weak}{quoted(name)};"
        options = list(option_statements(file.options))
        if options:
            yield ""
            yield from options
        for message in file.message_type:
            if not self._is_group(message, file.extension):
                yield ""
                yield from self._message(message)
        for enum in file.enum_type:
            yield ""
            yield from self._enum(enum)
        yield from self._extensions(file.extension, file.message_type)
        for service in file.service:
            yield ""
            yield from self._service(service)

    def _syntax_line(self) -> str:
        if self._file.syntax == "editions":
            return f'edition = "{Edition.Name(self._file.edition).removeprefix("EDITION_")}";'
        return f'syntax = "{self._file.syntax or "proto2"}";'

    def _message(self, message: DescriptorProto) -> Iterator[str]:
        yield f"{_visibility(message)}message {message.name} {{"
        yield from _indented(self._members(message))
        yield "}"

    def _members(self, message: DescriptorProto) -> Iterator[str]:
        yield from option_statements(message.options, leave_out=("map_entry",))
        yield from self._ranges(message)
        # Fields appear in the order of the descriptor; a oneof appears where its first field does.
        done: set[int] = set()
        for field in message.field:
            if not field.HasField("oneof_index") or field.proto3_optional:
                yield from self._field(field, message.nested_type)
            elif field.oneof_index not in done:
                done.add(field.oneof_index)
                yield from self._oneof(message, field.oneof_index)
        for nested in message.nested_type:
            if not nested.options.map_entry and not self._is_group(
                nested, [*message.field, *message.extension]
            ):
                yield from self._message(nested)
        for enum in message.enum_type:
            yield from self._enum(enum)
        yield from self._extensions(message.extension, message.nested_type)

    def _oneof(self, message: DescriptorProto, index: int) -> Iterator[str]:
        yield f"oneof {message.oneof_decl[index].name} {{"
        yield from _indented(option_statements(message.oneof_decl[index].options))
        for field in message.field:
            if field.HasField("oneof_index") and field.oneof_index == index:
                yield from _indented(self._field(field, message.nested_type))
        yield "}"

    def _ranges(self, message: DescriptorProto) -> Iterator[str]:
        if message.reserved_range:
            yield f"reserved {_ranges(message.reserved_range, LARGEST_NUMBER, end_counts=False)};"
        if message.reserved_name:
            yield f"reserved {', '.join(self._reserved_name(name) for name in message.reserved_name)};"
        for part in message.extension_range:
            options = field_options(part.options)
            yield f"extensions {_ranges([part], LARGEST_NUMBER, end_counts=False)}{options};"

    def _reserved_name(self, name: str) -> str:
        return name if self._file.syntax == "editions" else quoted(name)

    def _field(self, field: FieldDescriptorProto, nested: Any) -> Iterator[str]:
        label = self._label(field)
        entry = _map_entry(field, nested)
        rest = f"{field.name} = {field.number}{self._field_options(field)}"
        if entry is not None:
            key, content = entry.field
            yield f"map<{_type(key)}, {_type(content)}> {rest};"
        elif (
            field.type == FieldDescriptorProto.TYPE_GROUP and (group := _group_of(field, nested)) is not None
        ):
            yield f"{label}group {group.name} = {field.number}{self._field_options(field)} {{"
            yield from _indented(self._members(group))
            yield "}"
        else:
            yield f"{label}{_type(field)} {rest};"

    def _label(self, field: FieldDescriptorProto) -> str:
        word = _LABELS[field.label] + " "
        if field.label == FieldDescriptorProto.LABEL_REPEATED or field.proto3_optional:
            return word
        if not self._proto2 or field.HasField("oneof_index"):
            return ""
        return word

    def _field_options(self, field: FieldDescriptorProto) -> str:
        own: list[str] = []
        if field.HasField("default_value"):
            own.append(f"default = {_default(field)}")
        if field.json_name and field.json_name != default_json_name(field.name):
            own.append(f"json_name = {quoted(field.json_name)}")
        return field_options(field.options, own)

    def _enum(self, enum: EnumDescriptorProto) -> Iterator[str]:
        yield f"{_visibility(enum)}enum {enum.name} {{"
        yield from _indented(option_statements(enum.options))
        if enum.reserved_range:
            yield f"  reserved {_ranges(enum.reserved_range, _LARGEST_ENUM, end_counts=True)};"
        if enum.reserved_name:
            yield f"  reserved {', '.join(self._reserved_name(name) for name in enum.reserved_name)};"
        for value in enum.value:
            yield f"  {value.name} = {value.number}{field_options(value.options)};"
        yield "}"

    def _extensions(self, fields: Any, nested: Any) -> Iterator[str]:
        for field in fields:
            yield f"extend {field.extendee} {{"
            yield from _indented(self._field(field, nested))
            yield "}"

    def _service(self, service: ServiceDescriptorProto) -> Iterator[str]:
        yield f"service {service.name} {{"
        yield from _indented(option_statements(service.options))
        for method in service.method:
            taken = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
            given = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
            options = list(option_statements(method.options))
            yield f"  rpc {method.name}({taken}) returns ({given}){' {' if options else ';'}"
            if options:
                yield from _indented(_indented(iter(options)))
                yield "  }"
        yield "}"

    def _is_group(self, message: DescriptorProto, fields: Any) -> bool:
        return any(
            field.type == FieldDescriptorProto.TYPE_GROUP
            and field.type_name.rpartition(".")[2] == message.name
            for field in fields
        )


def _visibility(declared: DescriptorProto | EnumDescriptorProto) -> str:
    # Older releases of Protobuf do not have it.
    names = {1: "local ", 2: "export "}
    return names.get(getattr(declared, "visibility", 0), "")


def _type(field: FieldDescriptorProto) -> str:
    return _SCALARS.get(field.type) or str(field.type_name)


def _default(field: FieldDescriptorProto) -> str:
    if field.type == FieldDescriptorProto.TYPE_STRING:
        return quoted(field.default_value)
    if field.type == FieldDescriptorProto.TYPE_BYTES:
        # Descriptors store the default of bytes with escapes.
        return f'"{field.default_value}"'
    return str(field.default_value)


def _map_entry(field: FieldDescriptorProto, nested: Any) -> DescriptorProto | None:
    if field.label != FieldDescriptorProto.LABEL_REPEATED or field.type != FieldDescriptorProto.TYPE_MESSAGE:
        return None
    name = field.type_name.rpartition(".")[2]
    return next((one for one in nested if one.options.map_entry and one.name == name), None)


def _group_of(field: FieldDescriptorProto, nested: Any) -> DescriptorProto | None:
    name = field.type_name.rpartition(".")[2]
    return next((one for one in nested if one.name == name), None)


def _ranges(parts: Any, largest: int, *, end_counts: bool) -> str:
    shown = []
    for part in parts:
        last = part.end if end_counts else part.end - 1
        end = "max" if last == largest else str(last)
        shown.append(str(part.start) if last == part.start else f"{part.start} to {end}")
    return ", ".join(shown)


def _indented(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield f"  {line}" if line else line

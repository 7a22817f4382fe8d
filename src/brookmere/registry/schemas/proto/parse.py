"""Parses .proto files into descriptors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    FileDescriptorProto,
)

from brookmere.registry.schemas.proto.checks import check_file
from brookmere.registry.schemas.proto.enums import read_enum
from brookmere.registry.schemas.proto.fields import LARGEST_NUMBER, Fields
from brookmere.registry.schemas.proto.names import resolve
from brookmere.registry.schemas.proto.options import option_statement
from brookmere.registry.schemas.proto.ranges import number_range, options_in_brackets, reserved
from brookmere.registry.schemas.proto.services import read_service
from brookmere.registry.schemas.proto.tokens import ProtoTextError, Tokens

_EDITIONS = frozenset(Edition.keys())


def parse_proto(
    text: str, *, name: str = "", imports: Mapping[str, FileDescriptorProto] | None = None
) -> FileDescriptorProto:
    """Parse a .proto file of proto2, proto3 or an edition.

    `imports` are the imported files, by name; those that ship with Protobuf are always known.
    Comments are dropped. Options defined by extensions are kept as written.

    >>> parse_proto('syntax = "proto3"; message Order { string id = 1; }').message_type[0].field[0].name
    'id'
    """
    file = _Parser(Tokens(text)).file()
    if name:
        file.name = name
    resolve(file, imports or {})
    check_file(file)
    return file


class _Parser:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._syntax = "proto2"
        self._fields = Fields(tokens, self._syntax, self._body)

    def file(self) -> FileDescriptorProto:
        tokens, file = self._tokens, FileDescriptorProto()
        self._head(file)
        self._fields = Fields(tokens, self._syntax, self._body)
        while tokens.next.kind != "end":
            if not tokens.accept(";"):
                self._declaration(file)
        return file

    def _head(self, file: FileDescriptorProto) -> None:
        tokens = self._tokens
        place = tokens.next
        if tokens.accept("syntax"):
            tokens.expect("=")
            self._syntax = tokens.text_string()
            if self._syntax not in ("proto2", "proto3"):
                raise ProtoTextError(f"the syntax must be proto2 or proto3, found {self._syntax!r}")
            if self._syntax == "proto3":
                file.syntax = "proto3"
            tokens.expect(";")
        elif place.text == "edition" and tokens.accept("edition"):
            tokens.expect("=")
            edition = tokens.text_string()
            self._syntax = "editions"
            file.syntax = "editions"
            if f"EDITION_{edition}" not in _EDITIONS:
                raise ProtoTextError(f"unknown edition {edition!r}")
            file.edition = Edition.Value(f"EDITION_{edition}")
            tokens.expect(";")

    def _declaration(self, file: FileDescriptorProto) -> None:
        tokens = self._tokens
        visibility = self._visibility()
        if tokens.accept("message"):
            self._message(file.message_type.add(**visibility))
        elif tokens.accept("enum"):
            read_enum(tokens, file.enum_type.add(**visibility))
        elif tokens.accept("package"):
            file.package = tokens.full_word()
            tokens.expect(";")
        elif tokens.accept("import"):
            self._import(file)
        elif tokens.accept("option"):
            option_statement(tokens, file.options)
        elif tokens.accept("extend"):
            self._extend(file.extension, file.message_type)
        elif tokens.accept("service"):
            read_service(tokens, file.service.add())
        else:
            raise tokens.fault(
                tokens.next, "expected message, enum, import, package, option, extend or service"
            )

    def _visibility(self) -> dict[str, str]:
        tokens = self._tokens
        if tokens.next.text in ("export", "local") and tokens.after_next().text in ("message", "enum"):
            return {"visibility": f"VISIBILITY_{tokens.take().text.upper()}"}
        return {}

    def _import(self, file: FileDescriptorProto) -> None:
        tokens = self._tokens
        if tokens.accept("public"):
            file.public_dependency.append(len(file.dependency))
        elif tokens.accept("weak"):
            file.weak_dependency.append(len(file.dependency))
        file.dependency.append(tokens.text_string())
        tokens.expect(";")

    def _message(self, message: DescriptorProto) -> None:
        message.name = self._tokens.word()
        self._body(message)

    def _body(self, message: DescriptorProto) -> None:
        tokens = self._tokens
        tokens.expect("{")
        while not tokens.accept("}"):
            if not tokens.accept(";"):
                self._member(message)
        self._add_synthetic_oneofs(message)

    def _member(self, message: DescriptorProto) -> None:
        tokens = self._tokens
        # A field can have a type with one of these names only after a label or a package.
        visibility = self._visibility()
        if tokens.accept("message"):
            self._message(message.nested_type.add(**visibility))
        elif tokens.accept("enum"):
            read_enum(tokens, message.enum_type.add(**visibility))
        elif tokens.accept("oneof"):
            self._oneof(message)
        elif tokens.accept("option"):
            option_statement(tokens, message.options)
        elif tokens.accept("extend"):
            self._extend(message.extension, message.nested_type)
        elif tokens.accept("reserved"):
            reserved(tokens, message, end_counts=False)
        elif tokens.accept("extensions"):
            self._extension_ranges(message)
        else:
            self._fields.field(message.field, nested=message.nested_type)

    def _oneof(self, message: DescriptorProto) -> None:
        tokens = self._tokens
        index = len(message.oneof_decl)
        oneof = message.oneof_decl.add(name=tokens.word())
        tokens.expect("{")
        while not tokens.accept("}"):
            if tokens.accept("option"):
                option_statement(tokens, oneof.options)
            elif not tokens.accept(";"):
                self._fields.field(message.field, nested=message.nested_type, oneof=index)

    def _add_synthetic_oneofs(self, message: DescriptorProto) -> None:
        taken = {one.name for one in [*message.field, *message.oneof_decl]}
        for field in message.field:
            if field.proto3_optional:
                name = f"_{field.name}"
                while name in taken:
                    name = f"X{name}"
                taken.add(name)
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=name)

    def _extend(self, fields: Any, nested: Any) -> None:
        tokens = self._tokens
        extendee = tokens.full_word()
        tokens.expect("{")
        while not tokens.accept("}"):
            if not tokens.accept(";"):
                self._fields.field(fields, nested=nested, extendee=extendee)

    def _extension_ranges(self, message: DescriptorProto) -> None:
        tokens = self._tokens
        first = len(message.extension_range)
        while True:
            start, end = number_range(tokens, LARGEST_NUMBER)
            message.extension_range.add(start=start, end=end + 1)
            if not tokens.accept(","):
                break
        if tokens.next.text == "[":
            options_in_brackets(tokens, message.extension_range[first].options)
            for other in message.extension_range[first + 1 :]:
                other.options.CopyFrom(message.extension_range[first].options)
        tokens.expect(";")

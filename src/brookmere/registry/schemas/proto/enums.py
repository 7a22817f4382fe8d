"""Parses the enums of a .proto file."""

from __future__ import annotations

from google.protobuf.descriptor_pb2 import EnumDescriptorProto

from brookmere.registry.schemas.proto.options import option_statement
from brookmere.registry.schemas.proto.ranges import options_in_brackets, reserved
from brookmere.registry.schemas.proto.tokens import Tokens


def read_enum(tokens: Tokens, enum: EnumDescriptorProto) -> None:
    """Read an enum, after the keyword."""
    enum.name = tokens.word()
    tokens.expect("{")
    while not tokens.accept("}"):
        if tokens.next.text == "option" and tokens.after_next().text != "=":
            tokens.take()
            option_statement(tokens, enum.options)
        elif tokens.next.text == "reserved" and tokens.after_next().text != "=":
            tokens.take()
            reserved(tokens, enum, end_counts=True)
        elif not tokens.accept(";"):
            _enum_value(tokens, enum)


def _enum_value(tokens: Tokens, enum: EnumDescriptorProto) -> None:
    value = enum.value.add(name=tokens.word())
    tokens.expect("=")
    value.number = tokens.integer()
    options_in_brackets(tokens, value.options)
    tokens.expect(";")

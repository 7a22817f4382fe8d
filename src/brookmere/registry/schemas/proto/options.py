"""Parses the options of a .proto file."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import UninterpretedOption

from brookmere.registry.schemas.proto.tokens import ProtoTextError, Token, Tokens, integer_of, unescaped

Name = list[tuple[str, bool]]


def option_statement(tokens: Tokens, options: Any) -> None:
    """Read `option name = value;`, after its first word."""
    name = option_name(tokens)
    tokens.expect("=")
    set_option(tokens, options, name)
    tokens.expect(";")


def option_name(tokens: Tokens) -> Name:
    """Read the name of an option: parts separated by dots, those of extensions in parentheses."""
    parts: Name = []
    while True:
        if tokens.accept("("):
            parts.append((tokens.full_word(), True))
            tokens.expect(")")
        else:
            parts.append((tokens.word(), False))
        if not tokens.accept("."):
            return parts


def set_option(tokens: Tokens, options: Any, name: Name) -> None:
    """Read and set the value of an option; options defined by extensions are kept as written."""
    holder, field = _target(options, name)
    if field is None:
        if not any(extension for _, extension in name):
            raise tokens.fault(tokens.next, f"there is no option {'.'.join(part for part, _ in name)!r}")
        _uninterpreted(tokens, options, name)
    elif field.message_type is not None:
        content = tokens.braced()
        inner = getattr(holder, field.name)
        try:
            text_format.Merge(content, inner.add() if field.is_repeated else inner)
        except text_format.ParseError as problem:
            raise ProtoTextError(
                f"the value of the option {field.name!r} cannot be read: {problem}"
            ) from problem
    else:
        content = _scalar(tokens, field)
        if field.is_repeated:
            getattr(holder, field.name).append(content)
        else:
            setattr(holder, field.name, content)


def _target(options: Any, name: Name) -> tuple[Any, FieldDescriptor | None]:
    holder = options
    for place, (part, extension) in enumerate(name):
        field = None if extension else holder.DESCRIPTOR.fields_by_name.get(part)
        if field is None or place == len(name) - 1:
            return holder, field
        if field.message_type is None:
            return holder, None
        holder = getattr(holder, part)
    return holder, None


def _scalar(tokens: Tokens, field: FieldDescriptor) -> Any:
    first = tokens.next
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        symbol = tokens.word()
        if symbol not in field.enum_type.values_by_name:
            raise tokens.fault(first, f"expected one of {', '.join(field.enum_type.values_by_name)}")
        return field.enum_type.values_by_name[symbol].number
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        word = tokens.word()
        if word not in ("true", "false"):
            raise tokens.fault(first, "expected true or false")
        return word == "true"
    if kind == FieldDescriptor.CPPTYPE_STRING:
        return tokens.string() if field.type == FieldDescriptor.TYPE_BYTES else tokens.text_string()
    if kind in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return float(constant(tokens))
    return tokens.integer()


def _uninterpreted(tokens: Tokens, options: Any, name: Name) -> None:
    option = options.uninterpreted_option.add()
    for part, extension in name:
        option.name.add(name_part=part, is_extension=extension)
    if tokens.next.text == "{":
        option.aggregate_value = tokens.braced().strip()
        return
    negative = tokens.accept("-")
    _set_value(tokens, option, tokens.take(), negative)
    while option.string_value and tokens.next.kind == "string":
        option.string_value += unescaped(tokens.take().text)


def _set_value(tokens: Tokens, option: UninterpretedOption, token: Token, negative: bool) -> None:
    if token.kind == "string" and not negative:
        option.string_value = unescaped(token.text)
    elif token.kind == "int" and negative:
        option.negative_int_value = -integer_of(token.text)
    elif token.kind == "int":
        option.positive_int_value = integer_of(token.text)
    elif token.kind == "float" or (negative and token.text in ("inf", "nan")):
        number = float(token.text.rstrip("fF") if token.kind == "float" else token.text)
        option.double_value = -number if negative else number
    elif token.kind == "word" and not negative:
        option.identifier_value = token.text
    else:
        raise tokens.fault(token, "expected a value")


def constant(tokens: Tokens) -> str:
    """Read a number or a word, in the form descriptors use for defaults: numbers in decimal."""
    sign = "-" if tokens.accept("-") else ""
    token = tokens.take()
    if token.kind == "int":
        return f"{sign}{integer_of(token.text)}"
    if token.kind == "float":
        return f"{sign}{token.text.rstrip('fF')}"
    if token.kind == "word":
        return f"{sign}{token.text}"
    raise tokens.fault(token, "expected a value")

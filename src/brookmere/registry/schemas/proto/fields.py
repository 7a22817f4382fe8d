"""Parses the fields of messages in a .proto file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FieldOptions
from google.protobuf.text_encoding import CEscape

from brookmere.registry.schemas.proto.options import constant, option_name, set_option
from brookmere.registry.schemas.proto.tokens import Token, Tokens

Field = FieldDescriptorProto
LABELS = {
    "optional": Field.LABEL_OPTIONAL,
    "required": Field.LABEL_REQUIRED,
    "repeated": Field.LABEL_REPEATED,
}
SCALARS = {
    "double": Field.TYPE_DOUBLE,
    "float": Field.TYPE_FLOAT,
    "int64": Field.TYPE_INT64,
    "uint64": Field.TYPE_UINT64,
    "int32": Field.TYPE_INT32,
    "fixed64": Field.TYPE_FIXED64,
    "fixed32": Field.TYPE_FIXED32,
    "bool": Field.TYPE_BOOL,
    "string": Field.TYPE_STRING,
    "bytes": Field.TYPE_BYTES,
    "uint32": Field.TYPE_UINT32,
    "sfixed32": Field.TYPE_SFIXED32,
    "sfixed64": Field.TYPE_SFIXED64,
    "sint32": Field.TYPE_SINT32,
    "sint64": Field.TYPE_SINT64,
}
_KEYS = frozenset(SCALARS) - {"double", "float", "bytes"}
LARGEST_NUMBER = 2**29 - 1
_FLOATS = (Field.TYPE_DOUBLE, Field.TYPE_FLOAT)

Body = Callable[[DescriptorProto], None]


class Fields:
    """Reads fields; `body` reads the contents of a group's message."""

    def __init__(self, tokens: Tokens, syntax: str, body: Body) -> None:
        self._tokens = tokens
        self._syntax = syntax
        self._body = body

    def field(self, fields: Any, *, nested: Any, extendee: str = "", oneof: int | None = None) -> None:
        """Read one field of a message, a oneof or an extend block."""
        tokens = self._tokens
        start = tokens.next
        label = tokens.take().text if start.text in LABELS and start.kind == "word" else None
        self._check_label(start, label, oneof)
        field = fields.add(label=LABELS[label or "optional"])
        if extendee:
            field.extendee = extendee
        if oneof is not None:
            field.oneof_index = oneof
        if tokens.next.text == "group" and tokens.after_next().kind == "word":
            self._group(field, nested)
            return
        if tokens.next.text == "map" and tokens.after_next().text == "<":
            if label is not None or oneof is not None or extendee:
                raise tokens.fault(start, "expected a map without a label and outside a oneof")
            self._map(field, nested)
        else:
            _set_type(field, tokens.full_word())
            field.name = tokens.word()
        self._number_and_options(field)
        if label == "optional" and self._syntax == "proto3" and not extendee:
            field.proto3_optional = True

    def _check_label(self, start: Token, label: str | None, oneof: int | None) -> None:
        tokens = self._tokens
        if oneof is not None:
            if label is not None:
                raise tokens.fault(start, "expected a field without a label, as in every oneof")
            return
        if label == "required" and self._syntax == "proto3":
            raise tokens.fault(start, "expected a field without 'required', which proto3 does not have")
        is_map = tokens.next.text == "map" and tokens.after_next().text == "<"
        if label is None and self._syntax == "proto2" and not is_map:
            raise tokens.fault(
                start, "expected optional, required or repeated, with which fields start in proto2"
            )

    def _number_and_options(self, field: FieldDescriptorProto) -> None:
        tokens = self._tokens
        tokens.expect("=")
        place = tokens.next
        field.number = tokens.integer() if place.kind == "int" else -1
        if not 1 <= field.number <= LARGEST_NUMBER or 19000 <= field.number <= 19999:
            raise tokens.fault(place, f"expected a field number from 1 to {LARGEST_NUMBER}")
        if tokens.accept("["):
            self._options(field)
        tokens.expect(";")

    def _options(self, field: FieldDescriptorProto) -> None:
        tokens = self._tokens
        while True:
            name = option_name(tokens)
            tokens.expect("=")
            if name == [("default", False)]:
                field.default_value = self._default(field)
            elif name == [("json_name", False)]:
                field.json_name = tokens.text_string()
            else:
                options = FieldOptions()
                set_option(tokens, options, name)
                field.options.MergeFrom(options)
            if not tokens.accept(","):
                break
        tokens.expect("]")

    def _default(self, field: FieldDescriptorProto) -> str:
        if field.HasField("type") and field.type == Field.TYPE_STRING:
            return self._tokens.text_string()
        if field.type == Field.TYPE_BYTES:
            return str(CEscape(self._tokens.string(), as_utf8=False))
        content = constant(self._tokens)
        return _float_text(content) if field.HasField("type") and field.type in _FLOATS else content

    def _map(self, field: FieldDescriptorProto, nested: Any) -> None:
        tokens = self._tokens
        tokens.expect("map")
        tokens.expect("<")
        place = tokens.next
        key = tokens.word()
        if key not in _KEYS:
            raise tokens.fault(place, "expected an integer type, bool or string as the key of a map")
        tokens.expect(",")
        content = tokens.full_word()
        tokens.expect(">")
        field.name = tokens.word()
        field.label = Field.LABEL_REPEATED
        entry = nested.add(name=entry_name(field.name))
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=Field.LABEL_OPTIONAL, type=SCALARS[key])
        inner = entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL)
        _set_type(inner, content)
        field.type_name = entry.name

    def _group(self, field: FieldDescriptorProto, nested: Any) -> None:
        tokens = self._tokens
        tokens.expect("group")
        name = tokens.word()
        field.name = name.lower()
        field.type = Field.TYPE_GROUP
        field.type_name = name
        tokens.expect("=")
        field.number = tokens.integer()
        if tokens.accept("["):
            self._options(field)
        self._body(nested.add(name=name))


def entry_name(field: str) -> str:
    """Return the name of the message for the entries of a map field.

    >>> entry_name("unit_prices")
    'UnitPricesEntry'
    """
    return "".join(part[:1].upper() + part[1:] for part in field.split("_")) + "Entry"


def default_json_name(name: str) -> str:
    """Return the default JSON name of a field.

    >>> default_json_name("unit_price")
    'unitPrice'
    """
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _set_type(field: FieldDescriptorProto, name: str) -> None:
    if name in SCALARS:
        field.type = SCALARS[name]
    else:
        field.type_name = name


def _float_text(content: str) -> str:
    if content.lstrip("-") in ("inf", "nan"):
        return content
    number = float(content)
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)

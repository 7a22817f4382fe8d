"""Fields that a program names (DDL text, a StructType, a dataclass), in Spark's JSON form."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from brookmere.serde.structures.dataclass_shapes import (
    ListOf,
    MapOf,
    Scalar,
    Shape,
    Slot,
    StructOf,
    shape_of,
    spark_schema,
)

NAME, DEFAULT = "name", "default"
"""Of a struct the name of its dataclass; in the metadata of a field its default."""

WITH_DEFAULT = "avro.default"
"""In the metadata of a field: a value may lack it, since the schema has a default for it."""

MEMBER = "avro.member"
"""In the metadata of a field: it is one of the members of a union."""

_WORDS = {
    "string": "string",
    "boolean": "boolean",
    "tinyint": "byte",
    "byte": "byte",
    "smallint": "short",
    "short": "short",
    "int": "integer",
    "integer": "integer",
    "bigint": "long",
    "long": "long",
    "float": "float",
    "real": "float",
    "double": "double",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
}
_FORMS = {*_WORDS.values(), "void", "variant"}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\w+|[<>(),:])")


class NoSchema(ValueError):  # noqa: N818
    """A schema cannot be used; the message says where and why."""


def structure_of(schema: object) -> dict[str, Any] | None:
    """Return the fields of a DDL string, a StructType or a dataclass; None for anything else.

    A field may be null unless DDL says NOT NULL or the dataclass leaves out `| None`.

    >>> structure_of("id bigint not null")["fields"]
    [{'name': 'id', 'type': 'long', 'nullable': False, 'metadata': {}}]
    """
    if isinstance(schema, str):
        return _Ddl(schema).whole()
    if isinstance(schema, type):
        return _struct(shape_of(schema)) if is_dataclass(schema) else None
    form = getattr(schema, "json", None)
    found = json.loads(form()) if callable(form) else None
    return found if isinstance(found, dict) and found.get("type") == "struct" else None


def form_of(spark_type: str | dict[str, Any]) -> Any:
    """Return Spark's JSON form of a type, which is that form or DDL: of fields, or of one type.

    Raises:
        NoSchema: only Spark itself can read it.

    >>> form_of("bigint"), form_of("array<int>")["elementType"], form_of("id int")["fields"][0]["name"]
    ('long', 'integer', 'id')
    """
    if not isinstance(spark_type, str) or spark_type in _FORMS:
        return spark_type
    try:
        return _Ddl(f"value {spark_type}").whole()["fields"][0]["type"]
    except NoSchema:
        return _Ddl(spark_type).whole()


def _struct(shape: StructOf) -> dict[str, Any]:
    defaults = {member.name: member.default for member in fields(shape.python)}
    members = []
    for name, slot in shape.fields:
        default = defaults[name]
        given = default is not MISSING and isinstance(default, str | int | float)
        metadata = {DEFAULT: default} if given else {}
        members.append(
            {"name": name, "type": _type(slot.shape), "nullable": slot.optional, "metadata": metadata}
        )
    return {"type": "struct", NAME: shape.python.__name__, "fields": members}


def _type(shape: Shape) -> Any:
    match shape:
        case Scalar():
            return spark_schema(shape)
        case ListOf(Slot(inner, optional)):
            return {"type": "array", "elementType": _type(inner), "containsNull": optional}
        case MapOf(Slot(inner, optional)):
            value = _type(inner)
            return {"type": "map", "keyType": "string", "valueType": value, "valueContainsNull": optional}
        case StructOf():
            return _struct(shape)


class _Ddl:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = []
        position = 0
        while text[position:].strip():
            found = _TOKEN.match(text, position)
            if found is None:
                raise NoSchema(f"cannot read {text[position:].strip()[:20]!r}")
            self._tokens.append(found.group(1))
            position = found.end()
        self._next = 0

    def whole(self) -> dict[str, Any]:
        if self._peek().lower() == "struct":
            found = self._type()
        else:
            found = {"type": "struct", "fields": self._fields("")}
        if self._next < len(self._tokens):
            raise NoSchema(f"found {self._peek()!r} after the last field")
        return dict(found)

    def _fields(self, end: str) -> list[dict[str, Any]]:
        members = []
        while True:
            name = self._take().strip("`").replace("``", "`")
            if not name or name in "<>(),:":
                raise NoSchema(f"expected the name of a field, found {name or 'the end'!r}")
            if self._peek() == ":":
                self._take()
            kind = self._type()
            nullable = True
            if self._peek().lower() == "not":
                self._take()
                self._expect("null")
                nullable = False
            if self._peek().lower() == "comment":
                self._take()
                self._take()
            members.append({"name": name, "type": kind, "nullable": nullable, "metadata": {}})
            if self._peek() != ",":
                break
            self._take()
        if end:
            self._expect(end)
        return members

    def _type(self) -> Any:
        word = self._take()
        kind = word.lower()
        if kind == "struct":
            self._expect("<")
            return {"type": "struct", "fields": self._fields(">")}
        if kind == "array":
            self._expect("<")
            element = self._type()
            self._expect(">")
            return {"type": "array", "elementType": element, "containsNull": True}
        if kind == "map":
            self._expect("<")
            key = self._type()
            self._expect(",")
            value = self._type()
            self._expect(">")
            return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
        if kind in ("decimal", "dec", "numeric"):
            return self._decimal()
        if kind not in _WORDS:
            raise NoSchema(f"expected a type, found {word or 'the end'!r}")
        return _WORDS[kind]

    def _decimal(self) -> str:
        if self._peek() != "(":
            return "decimal(10,0)"
        self._take()
        precision, scale = self._take(), "0"
        if self._peek() == ",":
            self._take()
            scale = self._take()
        self._expect(")")
        return f"decimal({precision},{scale})"

    def _expect(self, token: str) -> None:
        found = self._take()
        if found.lower() != token:
            raise NoSchema(f"expected {token!r}, found {found or 'the end'!r}")

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._next += 1
        return token

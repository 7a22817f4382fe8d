"""JSON by a JSON Schema, which may be in a registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

from brookmere.errors import Fault, TopologyError
from brookmere.registry import Schema
from brookmere.serde.bad_values import BadBytes, wrong_type
from brookmere.serde.base import Serde
from brookmere.serde.columns import Column, Columns, SparkType, SparkTypes
from brookmere.serde.json.json_schema_types import json_schema_of, spark_type
from brookmere.serde.json.json_text import from_json, json_name, to_json
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.registered import Registered, checked, framed, unframed
from brookmere.serde.structures.dataclass_shapes import StructOf, shape_of_dataclass
from brookmere.serde.structures.dataclass_values import as_plain, check, read
from brookmere.serde.structures.spark_fields import NoSchema, structure_of
from brookmere.serde.structures.type_fit import kind_of

_REMEDY = "Give a JSON Schema as text, dict or path, or a dataclass or DDL string to make it from."


@dataclass(frozen=True, slots=True)
class JsonSchema(Registered):
    """JSON in UTF-8 whose schema is a JSON Schema: a Spark struct for an object.

    The schema is text, a dict or a path, or it is made from a dataclass, a DDL string or a StructType.
    It says which fields there are and which may be absent; what else it asks of values is not checked.
    With a `registry` the JSON follows the id of its schema; the arguments are those of `Avro`.

    >>> JsonSchema({"type": "object", "properties": {"a": {"type": "integer"}}}).serialize({"a": 1})
    b'{"a":1}'
    """

    kind: ClassVar[str] = "json_schema"
    type: ClassVar[str] = "JSON"

    _shape: StructOf | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "registry", checked(self))
        try:
            text = None if self.schema is None else _text(self.schema)
            if text is not None:
                spark_type(json.loads(text))
        except NoSchema as error:
            what = f"The schema of JsonSchema cannot be used: {error}"
            raise TopologyError([Fault(what, None, _REMEDY)]) from None
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_shape", shape_of_dataclass(self.schema))

    @property
    def record_name(self) -> str | None:
        title = None if self._text is None else json.loads(self._text).get("title")
        return title if isinstance(title, str) and title else None

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if self._shape is not None:
            check(self._shape, value, self._shape.python.__name__)
        elif not isinstance(as_plain(value), dict | list | tuple):
            raise wrong_type("JsonSchema", "a dict, a list or a dataclass", value, "convert it")
        id, schema = self.written()
        kept = value if writes_nulls(spark_type(json.loads(schema.text))) else _without_nulls(as_plain(value))
        return to_json(kept) if id is None else framed(id, to_json(kept))

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        payload = data if self.client is None else unframed(data)[1]
        found = from_json(payload, parse_float=float if self._shape is None else Decimal)
        if self._shape is not None:
            return read(self._shape, found, self._shape.python.__name__)
        if not isinstance(found, dict | list):
            raise BadBytes(f"expected an object or an array as JSON, found {json_name(found)}")
        return found

    @property
    def shape(self) -> StructOf | None:
        return self._shape

    def type_of(self, schema: Schema) -> SparkType:
        form: SparkType = spark_type(json.loads(schema.text))
        return form

    def read_column(self, raw: Column, columns: Columns) -> Column:
        payload = raw if self.client is None else columns.unframed(raw)
        return columns.from_json(payload, self.spark_type())

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:
        id, schema = self.for_writing(columns).written()
        expected = self.type_of(schema)
        whole = columns.checked(value, _common(expected, found))
        text = columns.to_json(whole, nulls=writes_nulls(expected))
        return text if id is None else columns.framed(framed(id, b""), text)

    def as_stored(self, found: Any | None, types: SparkTypes) -> Serde:
        form = types.of(self) if found is None else found
        return SparkJson(json.dumps(form, separators=(",", ":")), frame=self)


def _common(schema: Any, found: Any) -> Any:
    """Return what the schema says about the parts that a value has."""
    match kind_of(schema), kind_of(found):
        case "struct", "struct":
            types = {part["name"]: part["type"] for part in found["fields"]}
            fields = [
                {**part, "type": _common(part["type"], types[part["name"]])}
                for part in schema["fields"]
                if part["name"] in types
            ]
            return {**schema, "fields": fields}
        case "array", "array":
            return {**schema, "elementType": _common(schema["elementType"], found["elementType"])}
        case "map", "map":
            return {**schema, "valueType": _common(schema["valueType"], found["valueType"])}
        case _:
            return found


def writes_nulls(kind: Any) -> bool:
    """Return whether absent values are written as null: where a field must be there, and may be null."""
    return any(member["nullable"] and member["metadata"].get("required") for member in _members(kind))


def _members(kind: Any) -> Iterator[Any]:
    if isinstance(kind, dict):
        for member in kind.get("fields", ()):
            yield member
            yield from _members(member["type"])
        for part in ("elementType", "valueType"):
            yield from _members(kind.get(part))


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list | tuple) else value


def _text(schema: object) -> str:
    if isinstance(schema, Path):
        schema = _read(schema)
    if isinstance(schema, dict):
        return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
    if isinstance(schema, str) and schema.lstrip().startswith("{"):
        try:
            return json.dumps(json.loads(schema), separators=(",", ":"), ensure_ascii=False)
        except json.JSONDecodeError as error:
            raise NoSchema(f"it is not JSON: {error.msg} at position {error.pos}") from None
    structure = structure_of(schema)
    if structure is None:
        found = schema.__name__ if isinstance(schema, type) else type(schema).__name__
        raise NoSchema(f"found {found}")
    return json_schema_of(structure)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoSchema(f"{path} cannot be read: {error}") from None

"""Values in Avro's binary form, by a schema that may be in a registry."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import fastavro
from fastavro.validation import ValidationError

from brookmere.errors import Fault, TopologyError
from brookmere.registry import Schema
from brookmere.serde.avro.avro_types import avro_of, parsed, record_name, spark_type
from brookmere.serde.bad_values import BadBytes
from brookmere.serde.base import Serde
from brookmere.serde.columns import Column, Columns, SparkType, SparkTypes
from brookmere.serde.registered import Registered, Registry, checked, framed, referred, unframed
from brookmere.serde.structures.dataclass_shapes import StructOf, shape_of_dataclass
from brookmere.serde.structures.dataclass_values import as_plain, build, check
from brookmere.serde.structures.spark_fields import NAME, NoSchema, structure_of

_REMEDY = 'Give a schema in JSON, a dataclass, a DDL string such as "id bigint, name string", or a path.'


@dataclass(frozen=True, slots=True)
class Avro(Registered):
    """A value in Avro's binary form: a Spark struct for a record.

    The schema is Avro's JSON as text, as a dict or in a file, or it is made from a dataclass, a DDL string or
    a StructType. With a `registry` each value follows the id of its schema, and may be written with any
    schema that Avro can resolve to this one; without a schema here the newest of the subject counts.
    `subject` is "topic", "record", "topic_record" or a name. `register=False` expects the schema to be there,
    `use_latest=True` writes with the newest schema of the subject.

    >>> Avro('{"type": "array", "items": "int"}').serialize([1, 2])
    b'\\x04\\x02\\x04\\x00'
    """

    kind: ClassVar[str] = "avro"
    type: ClassVar[str] = "AVRO"

    name: str | None = field(default=None, kw_only=True)
    """The record's name, where the schema is made from fields."""
    _shape: StructOf | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "registry", checked(self))
        try:
            text = None if self.schema is None else _text(self.schema, self.name)
            if text is not None:
                spark_type(*_parsed(text, ()))
        except NoSchema as error:
            raise TopologyError(
                [Fault(f"The schema of Avro cannot be used: {error}", None, _REMEDY)]
            ) from None
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_shape", shape_of_dataclass(self.schema))

    @property
    def record_name(self) -> str | None:
        return None if self._text is None else record_name(self._text)

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if self._shape is not None:
            check(self._shape, value, self._shape.python.__name__)
        id, schema = self.written()
        payload = _payload(self._parsed(schema), as_plain(value))
        return payload if id is None else framed(id, payload)

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        reader = self._parsed(self.expected())
        writer, client = reader, self.client
        if client is not None:
            id, data = unframed(data)
            found = known_schema(client, id)
            if found.type != self.type:
                raise BadBytes(f"the schema {id} is of the kind {found.type}, expected {self.type}")
            writer = self._parsed(found)
        value = _value(data, writer, reader)
        return value if self._shape is None else build(self._shape, value)

    @property
    def shape(self) -> StructOf | None:
        return self._shape

    def type_of(self, schema: Schema) -> SparkType:
        form: SparkType = spark_type(*_parsed(schema.text, tuple(referred(self.client, schema).items())))
        return form

    def read_column(self, raw: Column, columns: Columns) -> Column:
        schema = self.expected()
        registry = self.registry if isinstance(self.registry, Registry) else None
        return columns.read_avro(raw, self._texts(schema), self.type_of(schema), registry)

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:  # noqa: ARG002
        serde = self.for_writing(columns)
        id, schema = serde.written()
        return columns.write_avro(value, serde._texts(schema), id)

    def as_stored(self, found: Any | None, types: SparkTypes) -> Serde:  # noqa: ARG002
        return self if self.text is None else replace(self, schema=self.text)

    def describe(self) -> dict[str, Any]:
        return {**Registered.describe(self), "name": self.name}

    @classmethod
    def _options_from(cls, found: Mapping[str, Any], registry: Registry | None) -> dict[str, Any]:
        return {**Registered._options_from(found, registry), "name": found.get("name")}

    def _texts(self, schema: Schema) -> list[str]:
        return [*referred(self.client, schema).values(), schema.text]

    @staticmethod
    def as_written(payload: bytes, schema: Schema, references: Mapping[str, str]) -> Any:
        """Return a value as the schema has it that it was written with."""
        writer = _parsed(schema.text, tuple(references.items()))[0]
        return _value(payload, writer, writer)

    def _parsed(self, schema: Schema) -> Any:
        texts = referred(self.client, schema)
        return _parsed(schema.text, tuple(texts.items()))[0]


def known_schema(client: Any, id: int) -> Schema:
    """Return a schema by its id; one that the registry does not have is the record's fault."""
    from brookmere.errors import UnknownSchemaError

    try:
        found: Schema = client.schema(id)
    except UnknownSchemaError:
        raise BadBytes(f"the registry {client.url} has no schema with the id {id}") from None
    return found


@lru_cache(maxsize=1000)
def _parsed(text: str, references: tuple[tuple[str, str], ...]) -> Any:
    return parsed(text, dict(references))


def _text(schema: object, name: str | None) -> str:
    if isinstance(schema, Path):
        schema = _read(schema)
    if isinstance(schema, dict | list):
        return json.dumps(schema, separators=(",", ":"))
    if isinstance(schema, str) and schema.lstrip()[:1] in ("{", "[", '"'):
        return _compact(schema)
    structure = structure_of(schema)
    if structure is None:
        found = schema.__name__ if isinstance(schema, type) else type(schema).__name__
        raise NoSchema(f"found {found}")
    return avro_of(structure, name or structure.get(NAME) or "Record")


def _compact(text: str) -> str:
    try:
        return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    except json.JSONDecodeError as error:
        raise NoSchema(f"it is not JSON: {error.msg} at position {error.pos}") from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoSchema(f"{path} cannot be read: {error}") from None


def _payload(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    try:
        fastavro.validate(value, schema, strict=False)
        fastavro.schemaless_writer(out, schema, value)
    except ValidationError as error:
        raise TypeError(f"the value does not fit the Avro schema: {_first(error)}") from None
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise TypeError(f"the value does not fit the Avro schema: {type(error).__name__}: {error}") from error
    return out.getvalue()


def _first(error: ValidationError) -> str:
    found = [str(one) for one in getattr(error, "errors", ())] or [str(error)]
    return found[0]


def _value(data: bytes, writer: Any, reader: Any) -> Any:
    source = io.BytesIO(data)
    try:
        value = fastavro.schemaless_reader(source, writer, reader)
    except Exception as error:
        words = str(error) or type(error).__name__
        raise BadBytes(f"the bytes are no value of the Avro schema: {words}") from error
    left = len(data) - source.tell()
    if left:
        raise BadBytes(f"found {left} byte{'' if left == 1 else 's'} behind the value")
    return value

"""Protobuf messages, by a schema that may be in a registry."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError, EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from brookmere.errors import Fault, TopologyError
from brookmere.registry import Reference, RegistryClient, Schema
from brookmere.registry.schemas.proto import print_proto, well_known_file
from brookmere.serde.bad_values import BadBytes
from brookmere.serde.columns import Column, Columns, SparkType
from brookmere.serde.json.value_schemas import ANY, schema_of_type
from brookmere.serde.protobuf.descriptors import (
    indexes,
    message_in,
    message_of,
    plan,
    spark_type,
)
from brookmere.serde.protobuf.messages import fill, shown
from brookmere.serde.registered import Registered, Registry, checked, framed, referred, unframed
from brookmere.serde.structures.dataclass_values import as_plain
from brookmere.serde.structures.spark_fields import NoSchema

_REMEDY = "Give a class such as orders_pb2.Order, the text or path of a .proto file, or a FileDescriptorSet."


@dataclass(frozen=True, slots=True)
class Protobuf(Registered):
    """A Protobuf message: a Spark struct.

    The schema is a generated class, the text of a .proto file or its path, or a FileDescriptorSet; `message`
    names one of several messages. The Python side gives dicts, and takes dicts and messages.
    With a `registry` each message follows the id of its schema; the arguments are those of `Avro`.
    A field without presence is its default where it is absent, every other is null.

    >>> Protobuf('syntax = "proto3"; message Pair { int32 a = 1; }').serialize({"a": 1})
    b'\\x08\\x01'
    """

    kind: ClassVar[str] = "protobuf"
    type: ClassVar[str] = "PROTOBUF"

    message: str | None = field(default=None, kw_only=True)
    _name: str | None = field(init=False, repr=False)
    _descriptor: Descriptor | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "registry", checked(self))
        try:
            descriptor = None if self.schema is None else _descriptor(self.schema, self.message)
            if descriptor is not None:
                plan(descriptor)
        except NoSchema as error:
            what = f"The schema of Protobuf cannot be used: {error}"
            raise TopologyError([Fault(what, None, _REMEDY)]) from None
        object.__setattr__(self, "_descriptor", descriptor)
        object.__setattr__(self, "_name", None if descriptor is None else descriptor.full_name)
        object.__setattr__(self, "_text", None if descriptor is None else _text(self.schema, descriptor))

    @property
    def record_name(self) -> str | None:
        return self._name

    def references(self) -> Iterable[Reference]:
        """Register the files that the program's own imports, and return where they are."""
        client, descriptor = self.client, self._descriptor
        if client is None or descriptor is None:
            return ()
        return _registered(client, descriptor.file, register=self.register)

    def expected_message(self) -> Descriptor:
        """Return the message that values are read as."""
        return self._descriptor if self._descriptor is not None else self._of(self.expected())

    def written_message(self) -> tuple[bytes, Descriptor]:
        """Return the prefix of every value, and the message that values are written as."""
        id, schema = self.written()
        own = self._descriptor is not None and schema.text == self._text
        message = self._descriptor if own and self._descriptor is not None else self._of(schema)
        return (b"" if id is None else framed(id, indexes(message))), message

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        front, descriptor = self.written_message()
        if isinstance(value, Message):
            value = shown(value)
        message = GetMessageClass(descriptor)()
        fill(message, as_plain(value))
        try:
            return front + bytes(message.SerializeToString(deterministic=True))
        except EncodeError as error:
            raise ValueError(f"the value does not fit the message: {error}") from None

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        if self.client is not None:
            _, data = message_numbers(unframed(data)[1])
        message = GetMessageClass(self.expected_message())()
        try:
            message.ParseFromString(data)
        except DecodeError as error:
            raise BadBytes(f"the bytes are no {message.DESCRIPTOR.full_name}: {error}") from None
        try:
            return shown(message)
        except OverflowError as error:
            raise BadBytes(f"found a time that Python has no datetime for: {error}") from None

    def type_of(self, schema: Schema) -> SparkType:
        return spark_type(self._of(schema))

    def spark_type(self) -> SparkType:
        return spark_type(self.expected_message())

    def written_type(self) -> SparkType:
        if self.text is not None and not self.use_latest:
            return self.spark_type()
        return spark_type(self.written_message()[1])

    def json_schema(self) -> dict[str, Any]:
        return ANY if self._descriptor is None else schema_of_type(spark_type(self._descriptor))

    def read_column(self, raw: Column, columns: Columns) -> Column:
        message = json.dumps(plan(self.expected_message()))
        return columns.read_protobuf(raw, message, self.spark_type(), is_framed=self.client is not None)

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:  # noqa: ARG002
        front, message = self.for_writing(columns).written_message()
        return columns.write_protobuf(value, json.dumps(plan(message)), front)

    def describe(self) -> dict[str, Any]:
        described = {**Registered.describe(self), "message": self.message}
        if self.schema is not None and not isinstance(self.schema, str):
            # Its text alone would not have what it imports.
            files = _all_files(self.expected_message().file).SerializeToString()
            described |= {
                "files": base64.b64encode(files).decode("ascii"),
                "message": self.record_name,
            }
        return described

    @classmethod
    def _schema_from(cls, found: Mapping[str, Any]) -> Any:
        if "files" in found:
            return FileDescriptorSet.FromString(base64.b64decode(found["files"]))
        return found["schema"]

    @classmethod
    def _options_from(cls, found: Mapping[str, Any], registry: Registry | None) -> dict[str, Any]:
        return {**Registered._options_from(found, registry), "message": found.get("message")}

    def _of(self, schema: Schema) -> Descriptor:
        return _parsed(schema.text, tuple(referred(self.client, schema).items()), self.message)


def _all_files(root: Any) -> FileDescriptorSet:
    """Return a file and all that it imports, needed ones first."""
    files = FileDescriptorSet()
    seen: set[str] = set()

    def add(file: Any) -> None:
        if file.name not in seen:
            seen.add(file.name)
            for needed in file.dependencies:
                add(needed)
            file.CopyToProto(files.file.add())

    add(root)
    return files


@lru_cache(maxsize=1000)
def _parsed(text: str, references: tuple[tuple[str, str], ...], name: str | None) -> Descriptor:
    return message_of(text, dict(references), name)


def _descriptor(schema: object, name: str | None) -> Descriptor:
    if isinstance(schema, type) and issubclass(schema, Message):
        if name is not None:
            raise NoSchema(f"message={name!r} is given in addition to the class {schema.__name__}")
        found: Descriptor = schema.DESCRIPTOR  # type: ignore[attr-defined]
        return found
    if isinstance(schema, FileDescriptorSet):
        return _of_set(schema, name)
    text = _read(schema) if isinstance(schema, Path) else schema
    if not isinstance(text, str):
        kind = schema.__name__ if isinstance(schema, type) else type(schema).__name__
        raise NoSchema(f"found {kind}")
    return _parsed(text, (), name)


def _of_set(files: FileDescriptorSet, name: str | None) -> Descriptor:
    if not files.file:
        raise NoSchema("it is an empty set of files")
    if name is None:
        return message_in(files.file, files.file[-1].name, None)
    for file in files.file:
        try:
            return message_in(files.file, file.name, name)
        except NoSchema as error:
            last = error
    raise last


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoSchema(f"{path} cannot be read: {error}") from None


def _text(schema: object, descriptor: Descriptor) -> str:
    if isinstance(schema, str):
        return schema
    return _read(schema) if isinstance(schema, Path) else _printed(descriptor.file)


def _printed(file: Any) -> str:
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    return print_proto(proto)


def _registered(client: RegistryClient, file: Any, *, register: bool) -> list[Reference]:
    """Return references to what a file imports; the name of an import is its subject, too."""
    references = []
    for needed in file.dependencies:
        if well_known_file(needed.name) is not None:
            continue
        inner = _registered(client, needed, register=register)
        ask = client.register if register else client.lookup
        id = ask(needed.name, _printed(needed), Protobuf.type, inner)
        version = next(
            one for one in reversed(client.versions(needed.name)) if client.version(needed.name, one)[0] == id
        )
        references.append(Reference(needed.name, needed.name, version))
    return references


def message_numbers(data: bytes) -> tuple[list[int], bytes]:
    """Return which message of its file follows the schema's id, and its bytes."""
    position = 0

    def number() -> int:
        nonlocal position
        result, shift = 0, 0
        while position < len(data):
            byte = data[position]
            position += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (result >> 1) ^ -(result & 1)
        raise BadBytes("expected the numbers of a message behind the schema's id, found the end")

    count = number()
    if not 0 <= count <= len(data):
        raise BadBytes(f"found a list of {count} message numbers behind the schema's id")
    # An empty list is short for the first message.
    numbers = [number() for _ in range(count)] or [0]
    return numbers, data[position:]

"""Descriptors of Protobuf messages: their Spark types, and the form that the kernel reads."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from brookmere.registry.schemas.proto import (
    ProtoTextError,
    file_from_bytes,
    parse_proto,
    well_known_file,
)
from brookmere.serde.structures.spark_fields import NoSchema

TIMESTAMP = "google.protobuf.Timestamp"
WRAPPERS = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
KINDS = {
    FieldDescriptor.TYPE_DOUBLE: ("double", "double"),
    FieldDescriptor.TYPE_FLOAT: ("float", "float"),
    FieldDescriptor.TYPE_INT64: ("int64", "long"),
    FieldDescriptor.TYPE_UINT64: ("uint64", "decimal(20,0)"),
    FieldDescriptor.TYPE_INT32: ("int32", "integer"),
    FieldDescriptor.TYPE_FIXED64: ("fixed64", "decimal(20,0)"),
    FieldDescriptor.TYPE_FIXED32: ("fixed32", "long"),
    FieldDescriptor.TYPE_BOOL: ("bool", "boolean"),
    FieldDescriptor.TYPE_STRING: ("string", "string"),
    FieldDescriptor.TYPE_BYTES: ("bytes", "binary"),
    FieldDescriptor.TYPE_UINT32: ("uint32", "long"),
    FieldDescriptor.TYPE_ENUM: ("enum", "string"),
    FieldDescriptor.TYPE_SFIXED32: ("sfixed32", "integer"),
    FieldDescriptor.TYPE_SFIXED64: ("sfixed64", "long"),
    FieldDescriptor.TYPE_SINT32: ("sint32", "integer"),
    FieldDescriptor.TYPE_SINT64: ("sint64", "long"),
}
"""By type of a field: what the kernel calls it, and Spark's type of its values."""


def is_map(field: FieldDescriptor) -> bool:
    """Return whether a field is a map: a list of entries, to the bytes."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def message_of(text: str, references: Mapping[str, str], name: str | None) -> Descriptor:
    """Return the message `name`, or the first, of a .proto text or of its descriptor in base64."""
    imports: dict[str, FileDescriptorProto] = {}
    try:
        for needed, content in references.items():
            imports[needed] = parse_proto(content, name=needed, imports=imports)
        file = _file(text, imports)
    except ProtoTextError as error:
        raise NoSchema(str(error)) from None
    return message_in([*imports.values(), file], file.name, name)


def message_in(files: Iterable[FileDescriptorProto], root: str, name: str | None) -> Descriptor:
    """Return a message of the file `root`; `files` are that file and all that it imports."""
    known = {file.name: file for file in files}
    pool = DescriptorPool()
    added: set[str] = set()

    def add(file_name: str, needed_by: str) -> None:
        if file_name in added:
            return
        added.add(file_name)
        file = known.get(file_name) or well_known_file(file_name)
        if file is None:
            raise NoSchema(f"{needed_by} imports {file_name!r}, which is not there")
        for dependency in file.dependency:
            add(dependency, file_name)
        pool.AddSerializedFile(file.SerializeToString())

    try:
        add(root, root)
        messages = pool.FindFileByName(root).message_types_by_name
    except (TypeError, KeyError) as error:
        raise NoSchema(str(error)) from error
    if not messages:
        raise NoSchema("it defines no message")
    if name is None:
        first: Descriptor = next(iter(messages.values()))
        return first
    return _named(pool, root, name)


def indexes(message: Descriptor) -> bytes:
    """Return how the registry's frame says which message of its file it is."""
    path: list[int] = []
    inner = message
    while inner is not None:
        outer = inner.containing_type
        siblings = outer.nested_types if outer is not None else inner.file.message_types_by_name.values()
        path.insert(0, [one.full_name for one in siblings].index(inner.full_name))
        inner = outer
    if path == [0]:
        return b"\0"
    return b"".join(_zigzag(number) for number in (len(path), *path))


def plan(message: Descriptor, path: str = "value", outer: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a message as the kernel knows it; raise NoSchema for what Spark has no type for."""
    if message.full_name in outer:
        name = message.name
        raise NoSchema(f"{path} is a {name} inside a {name}: Spark has no types without end")
    inside = (*outer, message.full_name)
    fields = [_field(field, f"{path}.{field.name}", inside) for field in message.fields]
    return {"name": message.full_name, "fields": fields}


def spark_type(message: Descriptor) -> dict[str, Any]:
    """Return Spark's JSON form of a message's type."""
    members = [
        {"name": field.name, "type": _spark(field), "nullable": not field.is_required, "metadata": {}}
        for field in message.fields
    ]
    return {"type": "struct", "fields": members}


def _file(text: str, imports: Mapping[str, FileDescriptorProto]) -> FileDescriptorProto:
    try:
        return file_from_bytes(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return parse_proto(text, name="schema.proto", imports=imports)


def _named(pool: DescriptorPool, root: str, name: str) -> Descriptor:
    package = pool.FindFileByName(root).package
    for full in (name, f"{package}.{name}"):
        try:
            found: Descriptor = pool.FindMessageTypeByName(full)
        except KeyError:
            continue
        return found
    known = ", ".join(pool.FindFileByName(root).message_types_by_name)
    raise NoSchema(f"it has no message {name!r}, but {known}")


def _field(field: FieldDescriptor, path: str, outer: tuple[str, ...]) -> dict[str, Any]:
    if field.type == FieldDescriptor.TYPE_GROUP:
        raise NoSchema(f"{path} is a group, which newer versions of Protobuf do not have")
    known: dict[str, Any] = {"name": field.name, "number": field.number, "kind": _kind(field)}
    if is_map(field):
        entry = plan(field.message_type, path, outer)
        # An entry's key and value are never absent: an empty one means the default.
        members = [{**member, "presence": "implicit"} for member in entry["fields"]]
        return {**known, "message": {**entry, "fields": members}}
    if field.message_type is not None:
        known["message"] = plan(field.message_type, path, outer)
    if field.enum_type is not None:
        known["enum"] = _enum(field.enum_type)
    if field.is_repeated:
        return {**known, "repeated": True, "packed": field.is_packed}
    oneof = field.containing_oneof
    if oneof is not None and len(oneof.fields) > 1:
        known["oneof"] = oneof.index
    required = "required" if field.is_required else "explicit"
    return {**known, "presence": required if field.has_presence else "implicit"}


def _kind(field: FieldDescriptor) -> str:
    message = field.message_type
    if message is None:
        return KINDS[field.type][0]
    if message.full_name == TIMESTAMP:
        return "timestamp"
    if message.full_name in WRAPPERS:
        return "wrapped"
    return "map" if is_map(field) else "message"


def _enum(enum: EnumDescriptor) -> dict[str, Any]:
    values = [[value.name, value.number] for value in enum.values]
    return {"name": enum.name, "values": values, "closed": enum.is_closed}


def _spark(field: FieldDescriptor) -> Any:
    if is_map(field):
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        return {"type": "map", "keyType": _spark(key), "valueType": _spark(value), "valueContainsNull": False}
    message = field.message_type
    kind: Any
    if message is None:
        kind = KINDS[field.type][1]
    elif message.full_name == TIMESTAMP:
        kind = "timestamp"
    elif message.full_name in WRAPPERS:
        kind = _spark(message.fields_by_name["value"])
    else:
        kind = spark_type(message)
    return {"type": "array", "elementType": kind, "containsNull": False} if field.is_repeated else kind


def _zigzag(number: int) -> bytes:
    rest, out = number << 1, bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)

"""Compatibility of .proto files, by the rules of Confluent's registry."""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from brookmere.registry.schemas.proto.fields import SCALARS
from brookmere.registry.schemas.proto.names import ProtoFile

Field = FieldDescriptorProto
_WORDS = {number: word for word, number in SCALARS.items()}
# Types with interchangeable encodings; enums are interchangeable with the integers of the first group.
_GROUPS = (
    ("int32", "int64", "uint32", "uint64", "bool"),
    ("sint32", "sint64"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("string", "bytes"),
    ("float",),
    ("double",),
)
_GROUP_OF = {word: number for number, group in enumerate(_GROUPS) for word in group}
_INTEGERS = ("int32", "int64", "uint32", "uint64")


def protobuf_differences(reader: ProtoFile, writer: ProtoFile) -> list[str]:
    """Return the reasons, each with the part it applies to; empty if all messages can be read."""
    return _Check(reader, writer).files()


class _Check:
    def __init__(self, reader: ProtoFile, writer: ProtoFile) -> None:
        self._reader, self._writer = reader, writer
        self._reader_messages = dict(_messages_of_all(reader))
        self._writer_messages = dict(_messages_of_all(writer))
        self._compared: set[tuple[str, str]] = set()

    def files(self) -> list[str]:
        read = {message.name: message for message in self._reader.file.message_type}
        reasons: list[str] = []
        for message in self._writer.file.message_type:
            if message.name not in read:
                reasons.append(f"message {message.name} is missing")
                continue
            names = _full(self._reader.file, message.name), _full(self._writer.file, message.name)
            reasons += self._messages(*names)
        return reasons

    def _messages(self, reader_name: str, writer_name: str) -> list[str]:
        if (reader_name, writer_name) in self._compared:
            return []
        self._compared.add((reader_name, writer_name))
        reader = self._reader_messages.get(reader_name)
        writer = self._writer_messages.get(writer_name)
        if reader is None or writer is None:
            # Types that ship with Protobuf are the same everywhere.
            return []
        place = writer_name.removeprefix(".")
        reasons: list[str] = []
        inner = {nested.name for nested in reader.nested_type}
        for nested in writer.nested_type:
            if nested.options.map_entry:
                continue
            if nested.name in inner:
                reasons += self._messages(f"{reader_name}.{nested.name}", f"{writer_name}.{nested.name}")
            else:
                reasons.append(f"message {place}.{nested.name} is missing")
        written = {field.number: field for field in writer.field}
        read = {field.number: field for field in reader.field}
        for number in sorted(read.keys() | written.keys()):
            reasons += self._fields(place, read.get(number), written.get(number))
        return reasons + _oneofs(place, reader, writer)

    def _fields(
        self, place: str, reader: FieldDescriptorProto | None, writer: FieldDescriptorProto | None
    ) -> list[str]:
        if reader is None and writer is not None:
            required = writer.label == Field.LABEL_REQUIRED
            return [f"{_named(place, writer)} is required and was removed"] if required else []
        if reader is not None and reader.label == Field.LABEL_REQUIRED:
            if writer is None:
                return [f"{_named(place, reader)} is required and not in the data"]
            if writer.label != Field.LABEL_REQUIRED:
                return [f"{_named(place, reader)} is now required and may be missing in the data"]
        if reader is None or writer is None:
            return []
        where = _named(place, writer)
        ours, theirs = self._kind(reader, reading=True), self._kind(writer, reading=False)
        if not _fit(ours, theirs):
            return [f"{where} is {theirs} in the data and cannot be read as {ours}"]
        many = Field.LABEL_REPEATED
        if (reader.label == many) != (writer.label == many) and _GROUP_OF.get(ours) != _GROUP_OF["string"]:
            return [f"{where} was changed between one value and many"]
        if reader.type in (Field.TYPE_MESSAGE, Field.TYPE_GROUP):
            return self._contents(where, reader, writer)
        return []

    def _contents(self, where: str, reader: FieldDescriptorProto, writer: FieldDescriptorProto) -> list[str]:
        entry = self._reader_messages.get(reader.type_name)
        if entry is None or not entry.options.map_entry:
            return self._messages(reader.type_name, writer.type_name)
        written = self._writer_messages[writer.type_name]
        pairs = zip(entry.field, written.field, strict=True)
        return [reason for ours, theirs in pairs for reason in self._fields(where, ours, theirs)]

    def _kind(self, field: FieldDescriptorProto, *, reading: bool) -> str:
        """Return what decides compatibility: a scalar's name, or the kind and name of the type."""
        if field.type in _WORDS:
            return _WORDS[field.type]
        if field.type == Field.TYPE_ENUM:
            return "enum"
        known = self._reader_messages if reading else self._writer_messages
        entry = known.get(field.type_name)
        if entry is not None and entry.options.map_entry:
            return "map"
        side = self._reader if reading else self._writer
        kind = "group" if field.type == Field.TYPE_GROUP else "message"
        # A package may be renamed; imported types keep their full names.
        own = _full(side.file, "")
        name = field.type_name
        inside = name.startswith(own) and name in dict(_messages(side.file))
        return f"{kind} {name.removeprefix(own) if inside else name}"


def _fit(ours: str, theirs: str) -> bool:
    if ours == theirs:
        return True
    if ours in _GROUP_OF and theirs in _GROUP_OF:
        return _GROUP_OF[ours] == _GROUP_OF[theirs]
    return {ours, theirs} <= {"enum", *_INTEGERS}


def _oneofs(place: str, reader: DescriptorProto, writer: DescriptorProto) -> list[str]:
    ours, theirs = _members(reader), _members(writer)
    read = {field.number for field in reader.field}
    written = {field.number for field in writer.field}
    reasons: list[str] = []
    for name, numbers in theirs.items():
        lost = [number for number in numbers if number not in ours.get(name, ())]
        # A renamed oneof still groups its fields.
        together = any(set(numbers) <= set(other) for other in ours.values())
        for number in [] if together else lost:
            how = "moved out of" if number in read else "removed from"
            reasons.append(f"{place}: field {number} was {how} the oneof {name}")
    for name, numbers in ours.items():
        before = {number for other in theirs.values() for number in other}
        moved = [number for number in numbers if number in written and number not in before]
        joined = [number for number in numbers if number in before]
        if len(moved) > 1 or (moved and joined):
            reasons.append(f"{place}: fields {', '.join(map(str, moved))} were moved into the oneof {name}")
    return reasons


def _members(message: DescriptorProto) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for field in message.field:
        if field.HasField("oneof_index") and not field.proto3_optional:
            found.setdefault(message.oneof_decl[field.oneof_index].name, []).append(field.number)
    return found


def _messages_of_all(given: ProtoFile) -> Iterator[tuple[str, DescriptorProto]]:
    for file in (given.file, *given.imports.values()):
        yield from _messages(file)


def _messages(file: FileDescriptorProto) -> Iterator[tuple[str, DescriptorProto]]:
    waiting = [(_full(file, message.name), message) for message in file.message_type]
    while waiting:
        name, message = waiting.pop()
        yield name, message
        waiting += [(f"{name}.{nested.name}", nested) for nested in message.nested_type]


def _full(file: FileDescriptorProto, name: str) -> str:
    return f".{file.package}.{name}" if file.package else f".{name}"


def _named(place: str, field: FieldDescriptorProto) -> str:
    return f"{place}: field {field.number} ({field.name})"

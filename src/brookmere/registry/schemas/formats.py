"""The three formats of schemas that a registry stores: one way to parse them all."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from brookmere.registry.schemas.avro import AvroSchemaError, avro_text, parse_avro
from brookmere.registry.schemas.avro.model import Named
from brookmere.registry.schemas.json import JsonSchemaError, parse_json_schema
from brookmere.registry.schemas.proto import (
    ProtoFile,
    ProtoTextError,
    file_from_bytes,
    parse_proto,
    print_proto,
)
from brookmere.registry.schemas.proto.building import check_builds
from brookmere.registry.schemas.schema import AVRO, JSON, PROTOBUF


class InvalidSchemaError(Exception):
    """A text is not a valid schema of its format; the message says why."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed schema: its canonical text, its normalized text, and its meaning."""

    type: str
    canonical: str
    normalized: str
    meaning: Any


def parse(type: str, text: str, references: Mapping[str, str]) -> Parsed:
    """Parse a schema. `references` are the texts it needs by the names it uses, dependencies first."""
    try:
        if type == AVRO:
            return _avro(text, references)
        return _protobuf(text, references) if type == PROTOBUF else _json(text, references)
    except (AvroSchemaError, JsonSchemaError, ProtoTextError) as problem:
        raise InvalidSchemaError(str(problem)) from problem
    except RecursionError:
        raise InvalidSchemaError("its parts are nested too deeply") from None


def serialized(parsed: Parsed) -> str:
    """Return the descriptor of a Protobuf file as text, in base64."""
    return base64.b64encode(parsed.meaning.file.SerializeToString()).decode()


def _avro(text: str, references: Mapping[str, str]) -> Parsed:
    named: dict[str, Named] = {}
    for needed in references.values():
        parse_avro(needed, named)
    known = tuple(named)
    type = parse_avro(text, named)
    canonical = avro_text(type, known=known)
    return Parsed(AVRO, canonical, avro_text(type, known=known, normalized=True), type)


def _protobuf(text: str, references: Mapping[str, str]) -> Parsed:
    imports: dict[str, FileDescriptorProto] = {}
    for name, needed in references.items():
        imports[name] = parse_proto(needed, name=name, imports=imports)
    file = _proto_file(text, imports)
    check_builds(file, imports)
    printed = print_proto(file)
    return Parsed(PROTOBUF, printed, printed, ProtoFile(file, imports))


def _proto_file(text: str, imports: Mapping[str, FileDescriptorProto]) -> FileDescriptorProto:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return parse_proto(text, imports=imports)
    # Python clients send the descriptor of a file instead of its text.
    file = file_from_bytes(data)
    return parse_proto(print_proto(file), name=file.name, imports=imports)


def _json(text: str, references: Mapping[str, str]) -> Parsed:
    node = parse_json_schema(text, references)
    canonical = json.dumps(node.tree, separators=(",", ":"), ensure_ascii=False)
    normalized = json.dumps(node.tree, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    return Parsed(JSON, canonical, normalized, node)

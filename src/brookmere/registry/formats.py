"""Turns the text of a schema into one that is understood, in the three formats that a registry keeps."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brookmere.registry.proto_text import ProtoTextError, file_from_bytes, parse_proto, print_proto
from brookmere.registry.schema import AVRO, PROTOBUF


class InvalidSchemaError(Exception):
    """A text is no schema of its format; the message says why."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A schema that is understood: its one text, that text with everything in a fixed order, its meaning."""

    type: str
    canonical: str
    normalized: str
    meaning: Any


def parse(type: str, text: str, references: Mapping[str, str]) -> Parsed:
    """Understand a schema. `references` are the texts it needs by the names it uses, needed ones first."""
    if type == AVRO:
        return _avro(text, references)
    if type == PROTOBUF:
        return _protobuf(text, references)
    return _json(text, references)


def serialized(parsed: Parsed) -> str:
    """Return the descriptor of a Protobuf file as text, in base64."""
    file, _ = parsed.meaning
    return base64.b64encode(file.SerializeToString()).decode()


def _avro(text: str, references: Mapping[str, str]) -> Parsed:
    import fastavro.schema

    named: dict[str, Any] = {}
    try:
        for needed in references.values():
            fastavro.schema.parse_schema(json.loads(needed), named)
        tree = json.loads(text)
        fastavro.schema.parse_schema(tree, named)
    except Exception as e:
        raise InvalidSchemaError(str(e)) from e
    return Parsed(AVRO, _compact(tree), json.dumps(tree, separators=(",", ":"), sort_keys=True), tree)


def _protobuf(text: str, references: Mapping[str, str]) -> Parsed:
    imports: dict[str, Any] = {}
    try:
        for name, needed in references.items():
            imports[name] = parse_proto(needed, name=name, imports=imports)
        file = _proto_file(text, imports)
        printed = print_proto(file)
    except ProtoTextError as problem:
        raise InvalidSchemaError(str(problem)) from problem
    return Parsed(PROTOBUF, printed, printed, (file, imports))


def _proto_file(text: str, imports: Mapping[str, Any]) -> Any:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return parse_proto(text, imports=imports)
    # Clients in Python send the file's descriptor instead of its text.
    return file_from_bytes(data)


def _json(text: str, references: Mapping[str, str]) -> Parsed:
    try:
        tree = json.loads(text)
    except ValueError as problem:
        raise InvalidSchemaError(f"it is no JSON: {problem}") from problem
    return Parsed("JSON", _compact(tree), json.dumps(tree, separators=(",", ":"), sort_keys=True), tree)


def _compact(tree: Any) -> str:
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False)

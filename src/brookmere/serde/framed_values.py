"""Reads a value by the schema whose id precedes it, whatever the format of the schema."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from brookmere.registry import RegistryClient, Schema
from brookmere.serde.avro.avro import Avro, known_schema
from brookmere.serde.bad_values import BadBytes
from brookmere.serde.json.json_text import from_json
from brookmere.serde.protobuf.descriptors import message_of
from brookmere.serde.protobuf.messages import shown
from brookmere.serde.protobuf.protobuf import Protobuf, message_numbers
from brookmere.serde.registered import referred, unframed


def value_by_id(client: RegistryClient, data: bytes) -> Any:
    """Return the value of `data`; raise BadBytes where its id or its bytes make no sense."""
    id, payload = unframed(data)
    schema = known_schema(client, id)
    if schema.type == Avro.type:
        return Avro.as_written(payload, schema, referred(client, schema))
    if schema.type == Protobuf.type:
        return _message(client, schema, payload)
    return from_json(payload)


def _message(client: RegistryClient, schema: Schema, payload: bytes) -> Any:
    numbers, data = message_numbers(payload)
    kind: Descriptor = message_of(schema.text, referred(client, schema), None)
    messages = list(kind.file.message_types_by_name.values())
    try:
        for number in numbers:
            kind = messages[number]
            messages = list(kind.nested_types)
        message = GetMessageClass(kind)()
        message.ParseFromString(data)
        return shown(message)
    except (IndexError, DecodeError, OverflowError) as error:
        raise BadBytes(f"the bytes are not a message of their schema: {error}") from None

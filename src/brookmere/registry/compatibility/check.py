"""The compatibility check of each schema format."""

from __future__ import annotations

from brookmere.registry.compatibility.avro import avro_differences
from brookmere.registry.compatibility.json_schema import json_schema_differences
from brookmere.registry.compatibility.protobuf import protobuf_differences
from brookmere.registry.schemas.formats import Parsed
from brookmere.registry.schemas.schema import AVRO, PROTOBUF


def differences(*, reader: Parsed, writer: Parsed) -> list[str]:
    """Return why `reader` cannot read data written by `writer`, or nothing."""
    if reader.type == AVRO:
        return avro_differences(reader.meaning, writer.meaning)
    if reader.type == PROTOBUF:
        return protobuf_differences(reader.meaning, writer.meaning)
    return json_schema_differences(reader.meaning, writer.meaning)

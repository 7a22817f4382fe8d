"""Avro schemas: parsed into types with resolved names, and written in one canonical text."""

from __future__ import annotations

from brookmere.registry.schemas.avro.model import Type
from brookmere.registry.schemas.avro.parse import AvroSchemaError, parse_avro
from brookmere.registry.schemas.avro.text import avro_text

__all__ = ["AvroSchemaError", "Type", "avro_text", "parse_avro"]

"""JSON Schemas, parsed into trees whose references can be followed."""

from __future__ import annotations

from brookmere.registry.schemas.json.nodes import JsonSchemaError, Node
from brookmere.registry.schemas.json.parse import parse_json_schema

__all__ = ["JsonSchemaError", "Node", "parse_json_schema"]

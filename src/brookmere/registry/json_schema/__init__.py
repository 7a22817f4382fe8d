"""Turns the text of a JSON Schema into a tree whose references can be followed."""

from __future__ import annotations

from brookmere.registry.json_schema.nodes import JsonSchemaError, Node
from brookmere.registry.json_schema.parse import parse_json_schema

__all__ = ["JsonSchemaError", "Node", "parse_json_schema"]

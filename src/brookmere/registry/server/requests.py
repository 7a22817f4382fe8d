"""Requests to the registry's REST interface, parsed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from brookmere.registry.schemas.schema import Schema, schema_from_json
from brookmere.registry.server import refusals
from brookmere.registry.server.catalog import LARGEST_VERSION, Catalog

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Request:
    """A parsed request."""

    catalog: Catalog
    parts: tuple[str, ...]
    query: Mapping[str, str]
    data: bytes

    @property
    def subject(self) -> str | None:
        """The subject at the start of the path, or None if it names none."""
        return self.parts[0] if self.parts else None

    def flag(self, name: str) -> bool:
        """Return whether a query parameter is set."""
        return self.query.get(name, "").casefold() == "true"

    def page(self, found: list[_T]) -> list[_T]:
        """Return the page of a list that the query selects."""
        offset, limit = self.query.get("offset", "0"), self.query.get("limit", "-1")
        start = int(offset) if offset.isdecimal() else 0
        return found[start : start + int(limit)] if limit.isdecimal() else found[start:]

    def body(self) -> dict[str, Any]:
        """Return the JSON object of the body."""
        try:
            fields = json.loads(self.data)
        except ValueError as problem:
            raise refusals.unreadable(f"The body is not valid JSON: {problem}") from problem
        if not isinstance(fields, dict):
            raise refusals.unreadable("The body is not a JSON object")
        return fields

    def schema(self) -> tuple[Schema, dict[str, Any]]:
        """Return the schema in the body, and the whole body."""
        fields = self.body()
        for word in ("metadata", "ruleSet"):
            if fields.get(word):
                raise refusals.unreadable(f"This registry stores only schemas: '{word}' is not supported")
        if not isinstance(fields.get("schema"), str) or not fields["schema"].strip():
            raise refusals.invalid_schema("Empty schema")
        try:
            return schema_from_json(fields), fields
        except (KeyError, TypeError, ValueError) as problem:
            raise refusals.unreadable("A reference needs a name, a subject and a version") from problem


def version_of(text: str) -> int | None:
    """Return a version number; None means the latest."""
    if text in ("latest", "-1"):
        return None
    if not text.isdecimal() or not 1 <= int(text) <= LARGEST_VERSION:
        raise refusals.invalid_version(text)
    return int(text)


def id_of(text: str) -> int:
    """Return the id of a schema."""
    if not text.isdecimal():
        raise refusals.unknown_path()
    return int(text)

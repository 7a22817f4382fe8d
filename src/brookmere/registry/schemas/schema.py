"""A schema as a registry stores it: its kind, its text and its references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

AVRO: Final = "AVRO"
PROTOBUF: Final = "PROTOBUF"
JSON: Final = "JSON"
TYPES: Final = (JSON, PROTOBUF, AVRO)


class Reference(NamedTuple):
    """A reference to another schema: the name it is used by, and where it is registered."""

    name: str
    subject: str
    version: int


class Schema(NamedTuple):
    """A schema: `AVRO`, `PROTOBUF` or `JSON`, its text, and its references."""

    type: str
    text: str
    references: tuple[Reference, ...] = ()


class Latest(NamedTuple):
    """The latest version of a subject."""

    version: int
    id: int
    type: str
    text: str


def schema_from_json(fields: Mapping[str, Any]) -> Schema:
    """Read a schema from a request or an answer of the registry's REST interface."""
    return Schema(
        fields.get("schemaType") or AVRO,
        fields["schema"],
        references_from(fields.get("references") or ()),
    )


def schema_to_json(schema: Schema) -> dict[str, Any]:
    """Return the schema as JSON; the kind is omitted for Avro, and references if there are none."""
    fields: dict[str, Any] = {} if schema.type == AVRO else {"schemaType": schema.type}
    if schema.references:
        fields["references"] = [reference._asdict() for reference in schema.references]
    return {**fields, "schema": schema.text}


def references_from(
    given: Iterable[Reference | Mapping[str, Any] | tuple[str, str, int]],
) -> tuple[Reference, ...]:
    """Return references as `Reference` objects, from mappings or tuples of name, subject and version."""
    return tuple(
        Reference(one["name"], one["subject"], int(one["version"]))
        if isinstance(one, Mapping)
        else Reference(*one)
        for one in given
    )

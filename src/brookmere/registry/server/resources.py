"""The routes for subjects, their versions and schemas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brookmere.registry.schemas.formats import serialized
from brookmere.registry.schemas.schema import PROTOBUF, TYPES, Schema, schema_from_json, schema_to_json
from brookmere.registry.server.requests import Request, id_of, version_of
from brookmere.registry.server.subjects import Entry


def _shown(request: Request, schema: Schema) -> Schema:
    # Python clients request the descriptor of a Protobuf file instead of its text.
    if schema.type == PROTOBUF and request.query.get("format") == "serialized":
        return schema._replace(text=serialized(request.catalog.parsed(schema)))
    return schema


def _full(request: Request, entry: Entry) -> dict[str, Any]:
    schema = _shown(request, request.catalog.state.schemas[entry.id])
    fields = {"subject": entry.subject, "version": entry.version, "id": entry.id}
    return {**fields, **schema_to_json(schema)}


def subjects(request: Request) -> list[str]:
    """List the subjects."""
    only = request.flag("deletedOnly") or request.flag("deleted_only")
    prefix = request.query.get("subjectPrefix", "")
    found = request.catalog.subjects(prefix=prefix, deleted=only or request.flag("deleted"))
    return request.page(
        [subject for subject in found if not only or not request.catalog.state.versions(subject)]
    )


def delete_subject(request: Request) -> list[int]:
    """Delete a subject."""
    return request.catalog.delete_subject(request.parts[0], permanent=request.flag("permanent"))


def find(request: Request) -> dict[str, Any]:
    """Look up a schema in a subject."""
    schema, _ = request.schema()
    flags = {"normalize": request.flag("normalize"), "deleted": request.flag("deleted")}
    return _full(request, request.catalog.find(request.parts[0], schema, **flags))


def versions(request: Request) -> list[int]:
    """List the versions of a subject."""
    return request.page(request.catalog.versions(request.parts[0], deleted=request.flag("deleted")))


def register(request: Request) -> dict[str, Any]:
    """Add a schema to a subject."""
    schema, fields = request.schema()
    id, version = (_given(fields, name) for name in ("id", "version"))
    entry = request.catalog.register(
        request.parts[0], schema, normalize=request.flag("normalize"), id=id, version=version
    )
    return {"id": entry.id, "version": entry.version}


def _given(fields: Mapping[str, Any], name: str) -> int | None:
    number = fields.get(name)
    return number if isinstance(number, int) and number > 0 else None


def entry(request: Request) -> dict[str, Any]:
    """Return a version of a subject."""
    subject, version = request.parts
    return _full(
        request, request.catalog.entry(subject, version_of(version), deleted=request.flag("deleted"))
    )


def entry_schema(request: Request) -> Any:
    """Return the schema of a version verbatim."""
    return _raw(schema_from_json(entry(request)))


def _raw(schema: Schema) -> Any:
    return schema.text if schema.type == PROTOBUF else json.loads(schema.text)


def referring(request: Request) -> list[int]:
    """List the ids of the schemas that refer to a version."""
    subject, version = request.parts
    entry = request.catalog.entry(subject, version_of(version), deleted=True)
    return request.catalog.state.referring_to(subject, entry.version)


def delete_version(request: Request) -> int:
    """Delete a version."""
    subject, version = request.parts
    return request.catalog.delete_version(subject, version_of(version), permanent=request.flag("permanent"))


def schema_by_id(request: Request) -> dict[str, Any]:
    """Return a schema by its id."""
    fields = schema_to_json(_shown(request, request.catalog.schema(id_of(request.parts[0]))))
    if request.flag("fetchMaxId"):
        fields["maxId"] = max(request.catalog.state.schemas)
    return fields


def schema_text_by_id(request: Request) -> Any:
    """Return a schema by its id, verbatim."""
    return _raw(_shown(request, request.catalog.schema(id_of(request.parts[0]))))


def subjects_by_id(request: Request) -> list[str]:
    """List the subjects that have a schema."""
    return list(dict.fromkeys(entry["subject"] for entry in versions_by_id(request)))


def versions_by_id(request: Request) -> list[dict[str, Any]]:
    """List the versions that have a schema."""
    id = id_of(request.parts[0])
    request.catalog.schema(id)
    found = request.catalog.state.using(id, deleted=request.flag("deleted"))
    return [{"subject": entry.subject, "version": entry.version} for entry in found]


def all_schemas(request: Request) -> list[dict[str, Any]]:
    """List the versions of all subjects with their schemas."""
    found = []
    with request.catalog.lock:
        for subject in subjects(request):
            entries = request.catalog.state.versions(subject, deleted=request.flag("deleted"))
            found += entries[-1:] if request.flag("latestOnly") else entries
        return request.page([_full(request, entry) for entry in found])


def schema_types(_request: Request) -> list[str]:
    """List the kinds of schemas."""
    return list(TYPES)

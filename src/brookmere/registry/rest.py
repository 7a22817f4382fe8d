"""Turns requests of the registry's REST interface, by Confluent's paths, into calls of the catalog."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from brookmere.registry import refusals
from brookmere.registry.catalog import LARGEST_VERSION, Catalog
from brookmere.registry.formats import serialized
from brookmere.registry.refusals import Refusal
from brookmere.registry.schema import PROTOBUF, TYPES, Schema, schema_from_json, schema_to_json
from brookmere.registry.state import Entry

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked, taken apart."""

    catalog: Catalog
    parts: tuple[str, ...]
    query: Mapping[str, str]
    data: bytes

    def flag(self, name: str) -> bool:
        """Tell whether a parameter of the query is set."""
        return self.query.get(name, "").casefold() == "true"

    def page(self, found: list[_T]) -> list[_T]:
        """Return the part of a list that the query asks for."""
        offset, limit = self.query.get("offset", "0"), self.query.get("limit", "-1")
        start = int(offset) if offset.isdecimal() else 0
        return found[start : start + int(limit)] if limit.isdecimal() else found[start:]

    def body(self) -> dict[str, Any]:
        """Return the JSON object of the body."""
        try:
            fields = json.loads(self.data)
        except ValueError as problem:
            raise refusals.unreadable(f"The body is no JSON: {problem}") from problem
        if not isinstance(fields, dict):
            raise refusals.unreadable("The body is no JSON object")
        return fields

    def schema(self) -> tuple[Schema, dict[str, Any]]:
        """Return the schema of the body, and all of the body."""
        fields = self.body()
        if not isinstance(fields.get("schema"), str) or not fields["schema"].strip():
            raise refusals.invalid_schema("Empty schema")
        try:
            return schema_from_json(fields), fields
        except (KeyError, TypeError, ValueError) as problem:
            raise refusals.unreadable("A reference needs a name, a subject and a version") from problem


Handler = Callable[[Request], Any]


def answer(catalog: Catalog, method: str, path: str, data: bytes = b"") -> tuple[int, Any]:
    """Return the HTTP status and the JSON that answer a request; `path` is as it stands in its first line."""
    split = urlsplit(path)
    query = {name: values[-1] for name, values in parse_qs(split.query, keep_blank_values=True).items()}
    try:
        handler, parts = _route(method, split.path)
        return 200, handler(Request(catalog, parts, query, data))
    except Refusal as refusal:
        return refusal.status, {"error_code": refusal.code, "message": refusal.message}


def _route(method: str, path: str) -> tuple[Handler, tuple[str, ...]]:
    known = False
    for pattern, methods in _PATHS:
        match = pattern.fullmatch(path.rstrip("/") or "/")
        if match:
            known = True
            if method in methods:
                return methods[method], tuple(unquote(part) for part in match.groups())
    raise refusals.unknown_method() if known else refusals.unknown_path()


def _version(text: str) -> int | None:
    if text in ("latest", "-1"):
        return None
    if not text.isdecimal() or not 1 <= int(text) <= LARGEST_VERSION:
        raise refusals.invalid_version(text)
    return int(text)


def _id(text: str) -> int:
    if not text.isdecimal():
        raise Refusal(404, "HTTP 404 Not Found")
    return int(text)


def _shown(request: Request, schema: Schema) -> Schema:
    # Clients in Python ask for the descriptor of a Protobuf file instead of its text.
    if schema.type == PROTOBUF and request.query.get("format") == "serialized":
        return schema._replace(text=serialized(request.catalog.parsed(schema)))
    return schema


def _full(request: Request, entry: Entry) -> dict[str, Any]:
    schema = _shown(request, request.catalog.state.schemas[entry.id])
    fields = {"subject": entry.subject, "version": entry.version, "id": entry.id}
    return {**fields, **schema_to_json(schema)}


def _subjects(request: Request) -> list[str]:
    only = request.flag("deletedOnly") or request.flag("deleted_only")
    prefix = request.query.get("subjectPrefix", "")
    found = request.catalog.subjects(prefix=prefix, deleted=only or request.flag("deleted"))
    return request.page(
        [subject for subject in found if not only or not request.catalog.state.versions(subject)]
    )


def _delete_subject(request: Request) -> list[int]:
    return request.catalog.delete_subject(request.parts[0], permanent=request.flag("permanent"))


def _find(request: Request) -> dict[str, Any]:
    schema, _ = request.schema()
    flags = {"normalize": request.flag("normalize"), "deleted": request.flag("deleted")}
    return _full(request, request.catalog.find(request.parts[0], schema, **flags))


def _versions(request: Request) -> list[int]:
    return request.page(request.catalog.versions(request.parts[0], deleted=request.flag("deleted")))


def _register(request: Request) -> dict[str, Any]:
    schema, fields = request.schema()
    id, version = (_given(fields, name) for name in ("id", "version"))
    entry = request.catalog.register(
        request.parts[0], schema, normalize=request.flag("normalize"), id=id, version=version
    )
    return {"id": entry.id, "version": entry.version}


def _given(fields: Mapping[str, Any], name: str) -> int | None:
    number = fields.get(name)
    return number if isinstance(number, int) and number > 0 else None


def _entry(request: Request) -> dict[str, Any]:
    subject, version = request.parts
    return _full(request, request.catalog.entry(subject, _version(version), deleted=request.flag("deleted")))


def _entry_schema(request: Request) -> Any:
    return _raw(schema_from_json(_entry(request)))


def _raw(schema: Schema) -> Any:
    return schema.text if schema.type == PROTOBUF else json.loads(schema.text)


def _referring(request: Request) -> list[int]:
    subject, version = request.parts
    entry = request.catalog.entry(subject, _version(version), deleted=True)
    return request.catalog.state.referring_to(subject, entry.version)


def _delete_version(request: Request) -> int:
    subject, version = request.parts
    return request.catalog.delete_version(subject, _version(version), permanent=request.flag("permanent"))


def _schema_by_id(request: Request) -> dict[str, Any]:
    fields = schema_to_json(_shown(request, request.catalog.schema(_id(request.parts[0]))))
    if request.flag("fetchMaxId"):
        fields["maxId"] = max(request.catalog.state.schemas)
    return fields


def _schema_text_by_id(request: Request) -> Any:
    return _raw(_shown(request, request.catalog.schema(_id(request.parts[0]))))


def _subjects_by_id(request: Request) -> list[str]:
    return list(dict.fromkeys(entry["subject"] for entry in _versions_by_id(request)))


def _versions_by_id(request: Request) -> list[dict[str, Any]]:
    id = _id(request.parts[0])
    request.catalog.schema(id)
    found = request.catalog.state.using(id, deleted=request.flag("deleted"))
    return [{"subject": entry.subject, "version": entry.version} for entry in found]


def _schemas(request: Request) -> list[dict[str, Any]]:
    found = []
    with request.catalog.lock:
        for subject in _subjects(request):
            entries = request.catalog.state.versions(subject, deleted=request.flag("deleted"))
            found += entries[-1:] if request.flag("latestOnly") else entries
        return request.page([_full(request, entry) for entry in found])


def _types(_request: Request) -> list[str]:
    return list(TYPES)


def _level(request: Request) -> dict[str, str]:
    subject = request.parts[0] if request.parts else None
    own = subject is None or subject in request.catalog.state.levels
    if not own and not request.flag("defaultToGlobal"):
        raise refusals.no_subject_level(subject or "")
    return {"compatibilityLevel": request.catalog.level(subject)}


def _set_level(request: Request) -> dict[str, str]:
    level = str(request.body().get("compatibility", "")).upper()
    request.catalog.set_level(request.parts[0] if request.parts else None, level)
    return {"compatibility": level}


def _delete_level(request: Request) -> dict[str, str]:
    subject = request.parts[0] if request.parts else None
    if subject is not None and subject not in request.catalog.state.levels:
        raise refusals.unknown_subject(subject)
    level = request.catalog.level(subject)
    request.catalog.set_level(subject, None)
    return {"compatibilityLevel": level}


def _mode(request: Request) -> dict[str, str]:
    subject = request.parts[0] if request.parts else None
    own = subject is None or subject in request.catalog.state.modes
    if not own and not request.flag("defaultToGlobal"):
        raise refusals.no_subject_mode(subject or "")
    return {"mode": request.catalog.mode(subject)}


def _set_mode(request: Request) -> dict[str, str]:
    mode = str(request.body().get("mode", "")).upper()
    request.catalog.set_mode(request.parts[0] if request.parts else None, mode, force=request.flag("force"))
    return {"mode": mode}


def _delete_mode(request: Request) -> dict[str, str]:
    subject = request.parts[0] if request.parts else None
    if subject is not None and subject not in request.catalog.state.modes:
        raise refusals.unknown_subject(subject)
    mode = request.catalog.mode(subject)
    request.catalog.set_mode(subject, None)
    return {"mode": mode}


def _compatibility(request: Request) -> dict[str, Any]:
    subject, *rest = request.parts
    schema, _ = request.schema()
    catalog = request.catalog
    if not rest:
        entries = catalog.compared(subject)
    else:
        version = _version(rest[0])
        if version is None and not catalog.state.versions(subject):
            entries = []
        else:
            entries = [catalog.entry(subject, version)]
    reasons = catalog.reasons(subject, schema, entries)
    verbose = {"messages": reasons} if request.flag("verbose") else {}
    return {"is_compatible": not reasons, **verbose}


def _root(_request: Request) -> dict[str, Any]:
    return {}


_SUBJECT = "/subjects/([^/]+)"
_ROUTES: dict[str, dict[str, Handler]] = {
    "/": {"GET": _root},
    "/subjects": {"GET": _subjects},
    _SUBJECT: {"POST": _find, "DELETE": _delete_subject},
    f"{_SUBJECT}/versions": {"GET": _versions, "POST": _register},
    f"{_SUBJECT}/versions/([^/]+)": {"GET": _entry, "DELETE": _delete_version},
    f"{_SUBJECT}/versions/([^/]+)/schema": {"GET": _entry_schema},
    f"{_SUBJECT}/versions/([^/]+)/referencedby": {"GET": _referring},
    "/schemas": {"GET": _schemas},
    "/schemas/types": {"GET": _types},
    "/schemas/ids/([^/]+)": {"GET": _schema_by_id},
    "/schemas/ids/([^/]+)/schema": {"GET": _schema_text_by_id},
    "/schemas/ids/([^/]+)/subjects": {"GET": _subjects_by_id},
    "/schemas/ids/([^/]+)/versions": {"GET": _versions_by_id},
    "/config": {"GET": _level, "PUT": _set_level, "DELETE": _delete_level},
    "/config/([^/]+)": {"GET": _level, "PUT": _set_level, "DELETE": _delete_level},
    "/mode": {"GET": _mode, "PUT": _set_mode, "DELETE": _delete_mode},
    "/mode/([^/]+)": {"GET": _mode, "PUT": _set_mode, "DELETE": _delete_mode},
    f"/compatibility{_SUBJECT}/versions": {"POST": _compatibility},
    f"/compatibility{_SUBJECT}/versions/([^/]+)": {"POST": _compatibility},
}
_PATHS = [(re.compile(pattern), methods) for pattern, methods in _ROUTES.items()]

"""The routing of the registry's REST interface, by Confluent's paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from brookmere.registry.server import refusals, resources, rules
from brookmere.registry.server.catalog import Catalog
from brookmere.registry.server.refusals import Refusal
from brookmere.registry.server.requests import Request

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"

Handler = Callable[[Request], Any]


def answer(catalog: Catalog, method: str, path: str, data: bytes = b"") -> tuple[int, Any]:
    """Return the HTTP status and the JSON that answer a request; `path` is verbatim from the request line."""
    split = urlsplit(path)
    query = {name: values[-1] for name, values in parse_qs(split.query, keep_blank_values=True).items()}
    try:
        handler, parts = _route(method, split.path)
        # One request at a time: an answer never mixes the states before and after a change.
        with catalog.lock:
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


def _root(_request: Request) -> dict[str, Any]:
    return {}


_SUBJECT = "/subjects/([^/]+)"
_ROUTES: dict[str, dict[str, Handler]] = {
    "/": {"GET": _root},
    "/subjects": {"GET": resources.subjects},
    _SUBJECT: {"POST": resources.find, "DELETE": resources.delete_subject},
    f"{_SUBJECT}/versions": {"GET": resources.versions, "POST": resources.register},
    f"{_SUBJECT}/versions/([^/]+)": {"GET": resources.entry, "DELETE": resources.delete_version},
    f"{_SUBJECT}/versions/([^/]+)/schema": {"GET": resources.entry_schema},
    f"{_SUBJECT}/versions/([^/]+)/referencedby": {"GET": resources.referring},
    "/schemas": {"GET": resources.all_schemas},
    "/schemas/types": {"GET": resources.schema_types},
    "/schemas/ids/([^/]+)": {"GET": resources.schema_by_id},
    "/schemas/ids/([^/]+)/schema": {"GET": resources.schema_text_by_id},
    "/schemas/ids/([^/]+)/subjects": {"GET": resources.subjects_by_id},
    "/schemas/ids/([^/]+)/versions": {"GET": resources.versions_by_id},
    "/config": {"GET": rules.level, "PUT": rules.set_level, "DELETE": rules.delete_level},
    "/config/([^/]+)": {"GET": rules.level, "PUT": rules.set_level, "DELETE": rules.delete_level},
    "/mode": {"GET": rules.mode, "PUT": rules.set_mode, "DELETE": rules.delete_mode},
    "/mode/([^/]+)": {"GET": rules.mode, "PUT": rules.set_mode, "DELETE": rules.delete_mode},
    f"/compatibility{_SUBJECT}/versions": {"POST": rules.compatibility},
    f"/compatibility{_SUBJECT}/versions/([^/]+)": {"POST": rules.compatibility},
}
_PATHS = [(re.compile(pattern), methods) for pattern, methods in _ROUTES.items()]

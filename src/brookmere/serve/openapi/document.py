"""The OpenAPI document: the routes, with the types of each store's rows."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from brookmere.serve.answers.problems import MEDIA_TYPE
from brookmere.serve.openapi.models import Problem
from brookmere.serve.openapi.problem_responses import problems
from brookmere.serve.requests.store_queries import KEY_PARAMETERS, ROWS_PARAMETERS
from brookmere.state import Replica, StoreInfo

_ROWS, _KEY = "/stores/{name}", "/stores/{name}/{key}"
_ALWAYS = ("key", "at_least", "timeout")
_KEY_WORDS = {
    "key_value": "Return the row of a key.",
    "window": "Return a page of the windows of a key, in time order.",
    "session": "Return a page of the sessions of a key, ordered by end.",
    "versioned": "Return the version of a key, now or as of a time; or a page of versions.",
}
_ROWS_WORDS = {
    "key_value": "Return a page of rows, ordered by serialised key.",
    "window": "Return a page of windows in time order.",
    "session": "Return a page of sessions, ordered by end.",
    "versioned": "Return a page with the latest version of each key.",
}
_MS = {"type": "integer", "format": "int64"}

Json = dict[str, Any]


def document_of(api: FastAPI, replica: Replica, *, has_token: bool) -> Callable[[], Json]:
    """Return a function that builds the document on first use."""

    def document() -> Json:
        if api.openapi_schema is None:
            made = get_openapi(
                title=api.title,
                version=api.version,
                description=f"The state of {replica.application}: its stores, their updates, and its status.",
                routes=api.routes,
            )
            _describe_problems(made)
            for info in replica.infos.values():
                _describe_store(made, info)
            if has_token:
                _describe_token(made)
            api.openapi_schema = made
        return api.openapi_schema

    return document


def _describe_problems(document: Json) -> None:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = Problem.model_json_schema()
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    invalid = problems(invalid_request="A parameter is invalid.")[422]
    for item in document["paths"].values():
        for operation in item.values():
            answer = operation["responses"].get("422")
            if answer is not None and MEDIA_TYPE not in answer["content"]:
                operation["responses"]["422"] = invalid


def _describe_store(document: Json, info: StoreInfo) -> None:
    paths = document["paths"]
    rows, row = deepcopy(paths[_ROWS]["get"]), deepcopy(paths[_KEY]["get"])
    document["components"]["schemas"][f"{info.name}.row"] = _row_schema(info)
    content = {"$ref": f"#/components/schemas/{info.name}.row"}
    page = _page_schema(content)
    _fit(rows, info, "rows", ROWS_PARAMETERS[info.kind], f"Rows of {info.name}", page)
    rows["description"], row["description"] = _ROWS_WORDS[info.kind], _KEY_WORDS[info.kind]
    many = info.kind in ("window", "session")
    answer = page if many else {"anyOf": [content, page]} if info.kind == "versioned" else content
    what = {"window": "Windows of a key in", "session": "Sessions of a key in"}.get(info.kind, "A key of")
    _fit(row, info, "key", KEY_PARAMETERS[info.kind], f"{what} {info.name}", answer)
    paths[f"/stores/{info.name}"] = {"get": rows}
    paths[f"/stores/{info.name}/{{key}}"] = {"get": row}


def _fit(
    operation: Json, info: StoreInfo, id: str, known: tuple[str, ...], summary: str, answer: Json
) -> None:
    """Specialise the operation on any store for this one."""
    operation["summary"] = summary
    operation["operationId"] = f"{info.name}_{id}"
    operation["tags"] = [f"store {info.name}"]
    operation["parameters"] = [
        parameter for parameter in operation["parameters"] if parameter["name"] in (*known, *_ALWAYS)
    ]
    for parameter in operation["parameters"]:
        if parameter["name"] == "key":
            parameter["schema"] = info.key.key_json_schema()
            parameter["description"] = f"The key: {info.key.key_text}."
    operation["responses"]["200"]["description"] = "The requested rows."
    operation["responses"]["200"]["content"] = {"application/json": {"schema": answer}}


def _row_schema(info: StoreInfo) -> Json:
    key = info.key.json_schema()
    if info.kind in ("window", "session"):
        window = {"key": key, "start": _MS, "end": _MS}
        key = {"type": "object", "properties": window, "required": list(window)}
    members: Json = {"key": key, "value": info.value.json_schema(), "timestamp": _MS}
    if info.kind == "versioned":
        members["until"] = {"anyOf": [_MS, {"type": "null"}]}
    return {
        "type": "object",
        "title": f"Row of {info.name}",
        "properties": members,
        "required": list(members),
    }


def _page_schema(row: Json) -> Json:
    members: Json = {
        "rows": {"type": "array", "items": row},
        "cursor": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "lag": {"type": "integer"},
        "checked_at": {"type": "integer"},
    }
    return {"type": "object", "properties": members, "required": list(members)}


def _describe_token(document: Json) -> None:
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    refused = problems(wrong_token="The request lacks a valid token.")[401]
    for path, item in document["paths"].items():
        for operation in item.values():
            if path != "/health":
                operation["security"] = [{"token": []}]
                operation["responses"]["401"] = refused

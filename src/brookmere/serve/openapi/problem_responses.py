"""The problems of a route, as the OpenAPI document describes them."""

from __future__ import annotations

from typing import Any

from brookmere.serve.answers.problems import MEDIA_TYPE

_STATUS = {
    "no_such_store": 404,
    "no_such_key": 404,
    "no_topology": 404,
    "no_status": 404,
    "wrong_kind": 400,
    "bad_cursor": 400,
    "bad_position": 400,
    "wrong_token": 401,
    "method_not_allowed": 405,
    "invalid_key": 422,
    "invalid_request": 422,
    "failed": 503,
    "not_ready": 503,
    "position_not_reached": 503,
}

_SCHEMA = {"$ref": "#/components/schemas/Problem"}
_RETRY_AFTER = {"description": "After how many seconds to retry.", "schema": {"type": "integer"}}


def problems(**described: str) -> dict[int | str, dict[str, Any]]:
    """Return the problem responses by status: each name is a type of problem, its text says when."""
    answers: dict[int | str, dict[str, Any]] = {}
    for name, text in described.items():
        status = _STATUS[name]
        line = f"{name.replace('_', '-')}: {text}"
        if status in answers:
            answers[status]["description"] += f"\n\n{line}"
            continue
        answers[status] = {"description": line, "content": {MEDIA_TYPE: {"schema": _SCHEMA}}}
        if status == 503:
            answers[status]["headers"] = {"Retry-After": _RETRY_AFTER}
    return answers

"""Errors as responses of the type application/problem+json (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from brookmere.errors import (
    BrookmereError,
    PositionError,
    StoreNotReadyError,
    StoreTypeError,
    UnknownStoreError,
)

MEDIA_TYPE = "application/problem+json"

RETRY_SECONDS = 1
_PLAIN = "about:blank"
"""The type of problems that programs can only distinguish by status."""
_OF_THE_FRAMEWORK = {404: "no-such-path", 405: "method-not-allowed"}


# A problem is a response, not a failure of the program.
class Problem(Exception):  # noqa: N818
    """Why a request failed. `type` is for programs, `detail` for people."""

    def __init__(
        self,
        status: int,
        type: str,
        detail: str,
        more: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.type = type
        self.detail = detail
        self.more = more or {}
        self.headers = headers or {}

    def content(self) -> dict[str, Any]:
        """Return the problem as a JSON object."""
        return {
            "type": self.type,
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **self.more,
        }

    def answer(self) -> Response:
        """Return the response."""
        body = json.dumps(self.content()).encode("ascii")
        return Response(body, self.status, dict(self.headers), MEDIA_TYPE)


def no_such_key(store: str, key: str) -> Problem:
    """Return the problem of a key that a store does not have."""
    return Problem(404, "no-such-key", f"The store {store!r} has no key {key!r}.")


def retry_later(type: str, detail: str) -> Problem:
    """Return the problem of a request that may succeed later."""
    return Problem(503, type, detail, headers={"Retry-After": str(RETRY_SECONDS)})


def problem_of(error: BrookmereError) -> Problem:
    """Return the problem for an error that a store raised."""
    match error:
        case UnknownStoreError():
            return Problem(404, "no-such-store", str(error))
        case StoreTypeError():
            return Problem(400, "wrong-kind", str(error))
        case StoreNotReadyError():
            return retry_later("not-ready", str(error))
        case PositionError(topic=str()):
            return Problem(400, "bad-position", str(error))
        case PositionError():
            return retry_later("position-not-reached", str(error))
        case _:
            return retry_later("failed", str(error))


async def on_problem(_: Request, error: Exception) -> Response:
    """Respond with a Problem that a route raised."""
    assert isinstance(error, Problem)
    return error.answer()


async def on_brookmere_error(_: Request, error: Exception) -> Response:
    """Respond to an error of a store, also in the user's routes."""
    assert isinstance(error, BrookmereError)
    return problem_of(error).answer()


async def on_http_error(request: Request, error: Exception) -> Response:
    """Respond to what the framework rejects: unknown paths and methods."""
    assert isinstance(error, HTTPException)
    detail = str(error.detail)
    is_ours = detail == HTTPStatus(error.status_code).phrase
    # A 404 with a reason comes from a route of the user; it does not mean that the route is unknown.
    type = _OF_THE_FRAMEWORK.get(error.status_code, _PLAIN) if is_ours else _PLAIN
    if type != _PLAIN:
        detail = f"There is no {request.method} {request.url.path}. GET /docs lists all routes."
    return Problem(error.status_code, type, detail, headers=error.headers or {}).answer()


async def on_invalid_request(_: Request, error: Exception) -> Response:
    """Respond to invalid parameters, listing all of them."""
    assert isinstance(error, RequestValidationError)
    errors = [
        {"in": str(one["loc"][0]), "name": ".".join(str(part) for part in one["loc"][1:]), "why": one["msg"]}
        for one in error.errors()
    ]
    detail = "; ".join(f"{one['name'] or one['in']}: {one['why']}" for one in errors)
    return Problem(422, "invalid-request", detail, {"errors": errors}).answer()


async def on_failure(_: Request, __: Exception) -> Response:
    """Respond for a failed route of the user; only the log says why, because clients must not see it."""
    return Problem(500, "failed", "The route failed; see the log of the server.").answer()

"""Rejects requests without the bearer token, as ASGI middleware."""

from __future__ import annotations

import hmac

from starlette.types import ASGIApp, Receive, Scope, Send

from brookmere.serve.answers.problems import Problem

OPEN_PATHS = ("/health", "/docs")
"""Paths that need no token: the health check, and the page that asks for the token."""

_SCHEME = b"bearer "


class TokenGuard:
    """Passes requests with the token, and those to open paths."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode("utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in OPEN_PATHS or self._is_known(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await _refusal().answer()(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _is_known(self, scope: Scope) -> bool:
        for name, value in scope["headers"]:
            if name == b"authorization":
                given: bytes = value
                is_bearer = given[: len(_SCHEME)].lower() == _SCHEME
                return is_bearer and hmac.compare_digest(given[len(_SCHEME) :].strip(), self._token)
        return False


def _refusal() -> Problem:
    return Problem(
        401,
        "wrong-token",
        "The request lacks a valid token. Send the header Authorization: Bearer TOKEN.",
        headers={"WWW-Authenticate": "Bearer"},
    )

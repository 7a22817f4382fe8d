"""The API of a replica: routes, error handling and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from brookmere.errors import BrookmereError, ConfigError
from brookmere.serve.answers.event_streams import HEARTBEAT_SECONDS, streams_of
from brookmere.serve.answers.problems import (
    Problem,
    on_brookmere_error,
    on_failure,
    on_http_error,
    on_invalid_request,
    on_problem,
)
from brookmere.serve.context import Served, StatusReader
from brookmere.serve.openapi.document import document_of
from brookmere.serve.requests.bearer_token import TokenGuard
from brookmere.serve.requests.counts import AnswerCount
from brookmere.serve.routes.about import about_routes
from brookmere.serve.routes.docs_page import docs_page
from brookmere.serve.routes.health import health_routes
from brookmere.serve.routes.key_reads import KeyLane, KeyReaders
from brookmere.serve.routes.metadata import metadata_routes
from brookmere.serve.routes.own_routes import add_routes
from brookmere.serve.routes.stores import reading_routes
from brookmere.serve.routes.updates import updating_routes
from brookmere.state import Replica
from brookmere.state.replica.peers import Peers
from brookmere.topology.nodes import Topology


class _Api(FastAPI):
    """An API with a fast path in front of the framework, whose overhead exceeds the read of a key."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.entry: ASGIApp = super().__call__

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.entry(scope, receive, send)


def create_api(
    replica: Replica,
    *,
    status: StatusReader | None = None,
    topology: Topology | None = None,
    routes: Sequence[APIRouter] = (),
    token: str | None = None,
    peers: Peers | None = None,
    heartbeat: float = HEARTBEAT_SECONDS,
) -> FastAPI:
    """Return the API of a replica, and start to follow all its stores.

    `status` returns the status of the application, `topology` is its program. `routes` are the application's
    own; a parameter annotated with `Stores` receives the stores. With a `token`, all requests but GET /health
    need it.

    Raises:
        ConfigError: a route of the application has a path that is already taken, or the token is empty.
    """
    if token is not None and not token.strip():
        raise ConfigError("The token is empty, which protects nothing. Set a token, or omit it.")
    replica.start()
    api = _Api(title=replica.application, docs_url=None, redoc_url=None)
    served = Served(replica, status or (lambda: None), topology, peers, streams_of(api))
    readers = KeyReaders(replica)
    api.state.stores = replica
    for built_in in (
        reading_routes(served, readers),
        updating_routes(served, heartbeat=heartbeat),
        about_routes(served),
        health_routes(served),
        metadata_routes(served),
        docs_page(),
    ):
        api.include_router(built_in)
    add_routes(api, routes)
    api.add_exception_handler(Problem, on_problem)
    api.add_exception_handler(BrookmereError, on_brookmere_error)
    api.add_exception_handler(HTTPException, on_http_error)
    api.add_exception_handler(RequestValidationError, on_invalid_request)
    api.add_exception_handler(Exception, on_failure)
    api.add_middleware(AnswerCount, requests=served.requests)
    api.entry = KeyLane(api.entry, readers, served.requests)
    if token is not None:
        api.entry = TokenGuard(api.entry, token)
    api.openapi = document_of(api, replica, has_token=token is not None)  # type: ignore[method-assign]
    return api

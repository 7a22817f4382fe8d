"""GET /updates: the updates of a store or of a key, as server-sent events."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from brookmere.serve.answers.event_streams import MEDIA_TYPE, UpdateStream
from brookmere.serve.context import Served
from brookmere.serve.openapi.problem_responses import problems
from brookmere.serve.requests.keys import check_path, key_from_text
from brookmere.serve.requests.parameters import Key, Seconds, StoreName
from brookmere.serve.requests.store_queries import KeyQuestion, key_query
from brookmere.state import AnyStore, Position, Row
from brookmere.state.queries import Listing


def _answers(**more: str) -> dict[int | str, dict[str, Any]]:
    stream = {
        "description": "A stream of rows as JSON; a value of null means that the row was deleted.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
    }
    failures = problems(
        no_such_store="There is no such store here.",
        invalid_request="A parameter is invalid.",
        not_ready="The store has not caught up yet.",
        failed="The replica has failed.",
        **more,
    )
    return {200: stream, **failures}


def updating_routes(served: Served, *, heartbeat: float) -> APIRouter:
    """Return the routes."""
    routes = APIRouter(tags=["updates"])

    @routes.get(
        "/updates/{name}",
        summary="Updates of a store",
        response_class=Response,
        responses=_answers(),
    )
    async def of_store(name: StoreName, seconds: Seconds = None) -> Response:
        """Send every update from now on. Slow readers receive only the latest update per key."""
        store = served.replica[name].wait(timedelta(0))
        return UpdateStream(
            served.streams,
            store,
            store.updates,
            lambda: ((), Position()),
            is_quick=_is_quick(store),
            seconds=seconds,
            heartbeat=heartbeat,
        )

    @routes.get(
        "/updates/{name}/{key:whole}",
        summary="Updates of a key",
        response_class=Response,
        responses=_answers(invalid_key="The key is not of the store's type."),
    )
    async def of_key(name: StoreName, key: Key, request: Request, seconds: Seconds = None) -> Response:
        """Send the current row of the key, then every update."""
        check_path(request.scope["path"], request.scope.get("raw_path"))
        store = served.replica[name].wait(timedelta(0))
        found = await asyncio.to_thread(key_from_text, store.key_serde, key)
        return UpdateStream(
            served.streams,
            store,
            lambda: store.updates(found),
            lambda: _now(store, found, key),
            is_quick=_is_quick(store),
            seconds=seconds,
            heartbeat=heartbeat,
        )

    return routes


def _is_quick(store: AnyStore) -> bool:
    return not (store.key_serde.asks_registry() or store.value_serde.asks_registry())


def _now(store: AnyStore, key: Any, text: str) -> tuple[list[Row], Position]:
    """Return the current row of a key, or its newest window or session."""
    query = key_query(store, KeyQuestion(text))
    if isinstance(query, Listing):
        query = key_query(store, KeyQuestion(text, reverse=True, limit=1))
    result = store.query(query)
    if isinstance(result.value, list):
        return result.value, result.position
    return [Row(key, None, -1) if result.value is None else result.value], result.position

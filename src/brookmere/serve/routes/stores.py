"""GET /stores: the stores, their rows, and the rows of a key."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import anyio
from fastapi import APIRouter, Request
from starlette.responses import Response

from brookmere.serde.json.any_json import json_of
from brookmere.serve.answers.pages import read_page
from brookmere.serve.answers.problems import no_such_key
from brookmere.serve.context import Served
from brookmere.serve.openapi import models
from brookmere.serve.openapi.problem_responses import problems
from brookmere.serve.requests.keys import check_path
from brookmere.serve.requests.parameters import (
    AsOf,
    AtLeast,
    Cursor,
    End,
    Key,
    Limit,
    Lower,
    Prefix,
    Reverse,
    Start,
    StoreName,
    Timeout,
    Upper,
    position_from,
)
from brookmere.serve.requests.store_queries import KeyQuestion, RowsQuestion, key_query, rows_query
from brookmere.serve.routes.key_reads import POSITION, KeyReader, KeyReaders
from brookmere.state import AnyStore, Position, QueryResult
from brookmere.state.description.json_values import row_json
from brookmere.state.queries import Listing

_JSON = "application/json"
_HEADERS = {
    POSITION: {
        "description": "The response covers this position; other requests can wait for it with at_least=.",
        "schema": {"type": "string"},
    }
}
_WAITING = 64


def _problems(**more: str) -> dict[int | str, dict[str, Any]]:
    return problems(
        no_such_store="There is no such store here.",
        wrong_kind="Stores of this kind do not support the query.",
        bad_cursor="The cursor does not belong to this request.",
        bad_position="at_least is not a position, or names an unknown topic.",
        invalid_request="A parameter is invalid.",
        invalid_key="A key is not of the store's type.",
        not_ready="The store has not caught up yet.",
        position_not_reached="The store has not reached the position at_least.",
        failed="The replica has failed.",
        **more,
    )


def reading_routes(served: Served, readers: KeyReaders) -> APIRouter:
    """Return the routes."""
    routes = APIRouter(tags=["stores"])
    # Requests that wait for a position use other threads than reads.
    waiting = anyio.CapacityLimiter(_WAITING)

    async def fresh(name: str, at_least: str | None, timeout: float) -> AnyStore:
        store = served.replica[name]
        if at_least is None:
            return store
        position = position_from(at_least)
        return await anyio.to_thread.run_sync(
            store.at_least, position, timedelta(seconds=timeout), limiter=waiting
        )

    @routes.get(
        "/stores",
        summary="The stores that can be queried",
        response_class=Response,
        responses={200: {"model": models.StoreList}},
    )
    def stores() -> Response:
        return Response(json_of({"stores": summaries(served)}), media_type=_JSON)

    @routes.get(
        "/stores/{name}",
        summary="Rows of a store",
        response_class=Response,
        responses={200: {"model": models.Page, "headers": _HEADERS}, **_problems()},
    )
    async def rows(
        name: StoreName,
        lower: Lower = None,
        upper: Upper = None,
        prefix: Prefix = None,
        start: Start = None,
        end: End = None,
        reverse: Reverse = False,
        limit: Limit = 100,
        cursor: Cursor = None,
        at_least: AtLeast = None,
        timeout: Timeout = 5.0,
    ) -> Response:
        """Return a page of rows, ordered by key, or by time in window and session stores."""
        store = await fresh(name, at_least, timeout)
        question = RowsQuestion(lower, upper, prefix, start, end, reverse, limit, cursor)
        return await anyio.to_thread.run_sync(_rows, store, question)

    @routes.get(
        "/stores/{name}/{key:whole}",
        summary="The row of a key, or its windows, sessions or versions",
        response_class=Response,
        responses={
            200: {"model": models.Row | models.Page, "headers": _HEADERS},
            **_problems(no_such_key="The store does not have this key."),
        },
    )
    async def row(
        name: StoreName,
        key: Key,
        request: Request,
        start: Start = None,
        end: End = None,
        as_of: AsOf = None,
        reverse: Reverse = False,
        limit: Limit = 100,
        cursor: Cursor = None,
        at_least: AtLeast = None,
        timeout: Timeout = 5.0,
    ) -> Response:
        """Return the row of a key.

        Window and session stores return a page of the key's windows or sessions; versioned stores return a
        page of versions if start= or end= is given.
        """
        check_path(request.scope["path"], request.scope.get("raw_path"))
        store = await fresh(name, at_least, timeout)
        question = KeyQuestion(key, start, end, as_of, reverse, limit, cursor)
        return await anyio.to_thread.run_sync(_row, store, question, readers.get(name))

    return routes


def summaries(served: Served) -> list[dict[str, Any]]:
    """Return all stores with the state of their replicas."""
    return [
        {
            "name": status.name,
            "kind": status.kind,
            "topic": status.topic,
            "key": served.replica.infos[status.name].key.key_text,
            "entries": status.entries,
            "bytes": status.bytes,
            "lag": status.lag,
            "position": _plain(status.position),
            "ready": status.is_ready,
            "error": status.error,
        }
        for status in served.replica.status()
    ]


def _rows(store: AnyStore, question: RowsQuestion) -> Response:
    return _answer(*read_page(store, rows_query(store, question)))


def _row(store: AnyStore, question: KeyQuestion, reader: KeyReader | None) -> Response:
    query = key_query(store, question)
    if isinstance(query, Listing):
        return _answer(*read_page(store, query))
    if reader is not None:
        position = reader.position()
        return Response(reader.read(question.key), media_type=_JSON, headers={POSITION: position})
    result = store.query(query)
    if result.value is None:
        raise no_such_key(store.name, question.key)
    return _answer(row_json(result.value, store.key_serde, store.value_serde, is_version=True), result)


def _answer(body: bytes, result: QueryResult) -> Response:
    return Response(body, media_type=_JSON, headers={POSITION: result.position.to_json()})


def _plain(position: Position) -> dict[str, dict[str, int]]:
    return {topic: {str(p): at for p, at in offsets.items()} for topic, offsets in position.items()}

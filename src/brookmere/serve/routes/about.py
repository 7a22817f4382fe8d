"""GET /topology and GET /status: what the application is and does."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from brookmere.serde.json.any_json import json_of
from brookmere.serve.answers.problems import Problem
from brookmere.serve.context import Served
from brookmere.serve.openapi.problem_responses import problems
from brookmere.topology.describe import describe
from brookmere.topology.json_form import to_dict

_JSON = "application/json"


def about_routes(served: Served) -> APIRouter:
    """Return the routes."""
    routes = APIRouter(tags=["application"])

    @routes.get(
        "/topology",
        summary="The program as Kafka Streams describes it",
        response_class=Response,
        responses={
            200: {
                "content": {
                    "text/plain": {"schema": {"type": "string"}},
                    _JSON: {"schema": {"type": "object"}},
                }
            },
            **problems(no_topology="Only the stores are known here, not the topology."),
        },
    )
    async def topology(request: Request) -> Response:
        if served.topology is None:
            raise Problem(
                404,
                "no-topology",
                "Only the stores are known here. Serve the program itself to see its topology.",
            )
        if _prefers_json(request.headers.get("accept", "")):
            return Response(json_of(to_dict(served.topology)), media_type=_JSON)
        return PlainTextResponse(describe(served.topology))

    @routes.get(
        "/status",
        summary="The status of the application",
        response_class=Response,
        responses={
            200: {"content": {_JSON: {"schema": {"type": "object"}}}},
            **problems(
                no_status="The application has not reported a status yet.",
                failed="The status cannot be read.",
            ),
        },
    )
    def status() -> Response:
        found = served.status()
        if found is None:
            raise Problem(404, "no-status", "The application has not reported a status yet. Is it running?")
        return Response(json_of(found), media_type=_JSON)

    return routes


def _prefers_json(accept: str) -> bool:
    kinds = [part.partition(";")[0].strip() for part in accept.split(",")]
    return _JSON in kinds and ("text/plain" not in kinds or kinds.index(_JSON) < kinds.index("text/plain"))

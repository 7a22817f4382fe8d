"""GET /health, GET /ready and GET /metrics."""

from __future__ import annotations

import json

from fastapi import APIRouter
from starlette.responses import Response

from brookmere.serve.answers.problems import Problem, retry_later
from brookmere.serve.answers.prometheus import MEDIA_TYPE, exposition
from brookmere.serve.context import Served
from brookmere.serve.openapi import models
from brookmere.serve.openapi.problem_responses import problems
from brookmere.serve.routes.measurements import metrics_of
from brookmere.state.replica.replica import passes

_JSON = "application/json"


def health_routes(served: Served) -> APIRouter:
    """Return the routes."""
    routes = APIRouter(tags=["application"])

    @routes.get(
        "/health",
        summary="Whether this process is healthy",
        response_class=Response,
        responses={200: {"model": models.Health}, **problems(failed="The replica has failed.")},
    )
    async def health() -> Response:
        error = served.replica.error
        if error is None:
            return Response(b'{"status":"ok","error":null}', media_type=_JSON)
        if not passes(error):
            raise Problem(503, "failed", str(error))
        # This is transient; restarting the process would not help.
        waiting = {"status": "waiting", "error": str(error)}
        return Response(json.dumps(waiting), media_type=_JSON)

    @routes.get(
        "/ready",
        summary="Whether all stores can be queried",
        response_class=Response,
        responses={200: {"model": models.Readiness}, **problems(not_ready="A store has not caught up yet.")},
    )
    async def ready() -> Response:
        behind = [status.name for status in served.replica.status() if not status.is_ready]
        if behind:
            raise retry_later("not-ready", f"These stores have not caught up yet: {', '.join(behind)}.")
        return Response(b'{"status":"ready"}', media_type=_JSON)

    @routes.get(
        "/metrics",
        summary="Metrics for Prometheus",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    def metrics() -> Response:
        return Response(exposition(metrics_of(served)), media_type=MEDIA_TYPE)

    return routes

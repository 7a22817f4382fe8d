"""A route that serves a fixed page."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse


def page_routes(path: str, html: str) -> APIRouter:
    """Return routes that serve a page at `path`, which the OpenAPI document omits."""
    routes = APIRouter(include_in_schema=False)

    @routes.get(path)
    def page() -> HTMLResponse:
        # A changed and restarted program may serve a different page.
        return HTMLResponse(html, headers={"Cache-Control": "no-cache"})

    return routes

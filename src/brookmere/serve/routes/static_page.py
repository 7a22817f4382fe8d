"""Turns the text of a page into a route that answers with it."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse


def page_routes(path: str, html: str) -> APIRouter:
    """Return routes that answer `path` with a page; the OpenAPI document leaves it out."""
    routes = APIRouter(include_in_schema=False)

    @routes.get(path)
    def page() -> HTMLResponse:
        # A program that was changed and started again may serve another page.
        return HTMLResponse(html, headers={"Cache-Control": "no-cache"})

    return routes

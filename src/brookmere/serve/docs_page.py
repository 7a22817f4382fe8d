"""Answers with a page that shows the OpenAPI document and tries its routes, with nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter
from starlette.responses import HTMLResponse

PATH = "/docs"


def docs_page() -> APIRouter:
    """Return the route."""
    routes = APIRouter()
    page = files("brookmere.serve").joinpath("docs_page.html").read_bytes()

    @routes.get(PATH, include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page)

    return routes

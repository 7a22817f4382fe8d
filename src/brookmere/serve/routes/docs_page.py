"""GET /docs: a page to read the OpenAPI document and try its routes; it loads nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter

from brookmere.serve.routes.static_page import page_routes


def docs_page() -> APIRouter:
    """Return the route."""
    return page_routes("/docs", files("brookmere.serve.routes").joinpath("docs_page.html").read_text("utf-8"))

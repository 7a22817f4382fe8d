"""Answers with a page that shows the OpenAPI document and tries its routes, with nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter

from brookmere.serve.page import page_routes


def docs_page() -> APIRouter:
    """Return the route."""
    return page_routes("/docs", files("brookmere.serve").joinpath("docs_page.html").read_text("utf-8"))

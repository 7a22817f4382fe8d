"""A page is answered as HTML, and is no part of the API's document."""

from __future__ import annotations

import httpx
from fastapi import FastAPI

from brookmere.serve import Server
from brookmere.serve.routes.static_page import page_routes


def test_page_is_html_and_not_documented() -> None:
    api = FastAPI()
    api.include_router(page_routes("/", "<p>Brook &amp; Mere</p>"))

    with Server(api, port=0) as server, httpx.Client(base_url=server.url) as client:
        answer = client.get("/")
        document = client.get("/openapi.json").json()

    assert answer.text == "<p>Brook &amp; Mere</p>"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert document["paths"] == {}

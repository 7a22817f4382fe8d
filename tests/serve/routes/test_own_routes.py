"""An application's own routes have the stores at hand, and cannot hide the built-in ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI, HTTPException

from brookmere.errors import ConfigError
from brookmere.serve import Server, Stores, create_api
from brookmere.state import Replica, WindowStore

routes = APIRouter()


@routes.get("/best")
def best(stores: Stores) -> dict[str, int]:
    return dict(stores["totals"].all(reverse=True))


@routes.get("/best/{name}")
async def best_of(name: str, least: int, stores: Stores) -> list[int]:
    return [value for key, value in stores["totals"].all() if key == name and value >= least]


@routes.get("/unknown")
def unknown(stores: Stores) -> None:
    stores["total"]


@routes.get("/wrong")
def wrong(stores: Stores) -> Any:
    return stores["totals"].fetch("ann")


@routes.get("/teapot")
def teapot() -> None:
    raise HTTPException(418, "short and stout")


@routes.get("/absent")
def absent() -> None:
    raise HTTPException(404, "no such game")


@routes.get("/broken")
def broken() -> None:
    raise RuntimeError("a secret of the program")


@pytest.fixture(scope="module")
def url(replica: Replica) -> Iterator[str]:
    with Server(create_api(replica, routes=[routes]), port=0) as server:
        yield server.url


@pytest.fixture
def own(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url) as client:
        yield client


def test_a_route_of_the_application_asks_stores(own: httpx.Client) -> None:
    assert own.get("/best").json() == {"eve": 3, "cy/d": 2, "bob": 1, "ann": 0}
    assert own.get("/best/bob?least=1").json() == [1]
    assert own.get("/stores/totals/bob").json()["value"] == 1


@pytest.mark.parametrize(
    ("path", "status", "type"),
    [
        ("/unknown", 404, "no-such-store"),
        ("/wrong", 400, "wrong-kind"),
        ("/best/bob", 422, "invalid-request"),
        ("/best/bob/x", 404, "no-such-path"),
        ("/broken", 500, "failed"),
    ],
)
def test_what_goes_wrong_in_a_route_is_a_problem(
    own: httpx.Client, path: str, status: int, type: str
) -> None:
    answer = own.get(path)

    assert (answer.status_code, answer.json()["type"]) == (status, type)
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text


def test_an_error_of_the_framework_is_a_problem_with_its_own_words(own: httpx.Client) -> None:
    refused, absent = own.get("/teapot"), own.get("/absent")

    assert (refused.status_code, refused.json()["detail"]) == (418, "short and stout")
    assert refused.json()["type"] == "about:blank"
    assert (absent.status_code, absent.json()["detail"]) == (404, "no such game")
    assert absent.json()["type"] == "about:blank"


def test_own_routes_stand_in_the_document_with_problems(own: httpx.Client) -> None:
    document = own.get("/openapi.json").json()

    answers = document["paths"]["/best/{name}"]["get"]["responses"]
    assert answers["422"]["content"].keys() == {"application/problem+json"}
    assert "HTTPValidationError" not in document["components"]["schemas"]


@pytest.mark.parametrize(
    "path", ["/stores", "/stores/mine", "/health", "/docs", "/metadata/{name}", "/updates/x"]
)
def test_path_that_is_already_taken_is_refused(replica: Replica, path: str) -> None:
    clashing = APIRouter()
    clashing.add_api_route(path, lambda: None)

    with pytest.raises(ConfigError, match="is already taken"):
        create_api(replica, routes=[clashing])


def test_only_routers_are_routes(replica: Replica) -> None:
    with pytest.raises(ConfigError, match=r"found FastAPI\. Write routes = APIRouter\(\)"):
        create_api(replica, routes=[FastAPI()])  # type: ignore[list-item]


def test_stores_know_their_types(replica: Replica) -> None:
    views = replica.store("views", type=WindowStore)

    assert views.get("home", 5000) == 5

"""With a token, only requests that have it are answered."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from brookmere.errors import ConfigError
from brookmere.serve import Server, create_api
from brookmere.state import Replica


@pytest.fixture(scope="module")
def guarded(replica: Replica) -> Iterator[httpx.Client]:
    with (
        Server(create_api(replica, token="se cret"), port=0) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        yield client


@pytest.mark.parametrize("path", ["/stores", "/stores/totals/ann", "/openapi.json", "/nowhere"])
@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer", "Basic se cret", "se cret"])
def test_a_request_without_the_token_is_refused(guarded: httpx.Client, path: str, header: str | None) -> None:
    answer = guarded.get(path, headers={} if header is None else {"Authorization": header})

    assert (answer.status_code, answer.json()["type"]) == (401, "wrong-token")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer"])
def test_a_request_with_the_token_is_answered(guarded: httpx.Client, scheme: str) -> None:
    answer = guarded.get("/stores/totals/ann", headers={"Authorization": f"{scheme} se cret"})

    assert answer.status_code == 200


def test_everyone_may_ask_whether_the_process_is_healthy(guarded: httpx.Client) -> None:
    assert guarded.get("/health").status_code == 200


def test_the_document_tells_of_the_token(guarded: httpx.Client) -> None:
    document = guarded.get("/openapi.json", headers={"Authorization": "Bearer se cret"}).json()

    assert document["paths"]["/stores"]["get"]["security"] == [{"token": []}]
    assert "401" in document["paths"]["/stores"]["get"]["responses"]
    assert "security" not in document["paths"]["/health"]["get"]


def test_an_empty_token_is_refused(replica: Replica) -> None:
    with pytest.raises(ConfigError, match="The token is empty"):
        create_api(replica, token=" ")

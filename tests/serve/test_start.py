"""A running application is served: its stores, its own routes, and what it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter

import brookmere as bm
from brookmere.serve import Stores
from tests.run.homes import let_stores_follow
from tests.serve.conftest import until

pytestmark = pytest.mark.usefixtures("spark")

routes = APIRouter()


@routes.get("/sum")
def total(stores: Stores) -> int:
    return sum(value for _, value in stores["counts"].all())


def program() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("counting", key=bm.Text(), value=bm.Text())
    app.stream("words").group_by_key().count(store="counts").to_stream().to("totals")
    return app


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[bm.Application]:
    home = tmp_path_factory.mktemp("serve")
    bm.Topics(home / "topics").create("words").append([bm.Record(b"a", b"", 1), bm.Record(b"b", b"", 2)])
    with bm.Application(program(), topics__dir=home / "topics", state__dir=home / "state") as application:
        application.process_all_available()
        yield application


@pytest.fixture(scope="module")
def client(application: bm.Application) -> Iterator[httpx.Client]:
    with (
        bm.serve(application, "127.0.0.1:0", routes=[routes]) as server,
        httpx.Client(base_url=server.url, timeout=120) as client,
    ):
        yield client


def test_what_was_written_is_read_when_its_position_is_asked_for(
    application: bm.Application, client: httpx.Client
) -> None:
    topics = bm.Topics(application.config.topics_dir)
    topics["words"].append([bm.Record(b"fresh", b"", 3)])
    wanted = json.dumps({"words": {"0": topics["words"].end_offsets()[0]}})

    answer = client.get("/stores/counts/fresh", params={"at_least": wanted, "timeout": 60})

    assert answer.json()["value"] == 1
    # Any replica of the application understands it, so it names the changelog and not the topics read.
    position = json.loads(answer.headers["Brookmere-Position"])
    (changelog,) = position
    assert changelog.endswith("-changelog")
    assert position[changelog]["0"] == topics[changelog].end_offsets()[0]


def test_own_routes_topology_and_status_are_there(application: bm.Application, client: httpx.Client) -> None:
    metric = 'brookmere_node_received_total{node="KSTREAM-SOURCE-0000000000"}'

    assert client.get("/topology").text == application.topology.describe()
    assert client.get("/status").json()["state"] == "running"
    until(lambda: metric in client.get("/metrics").text)
    let_stores_follow(application)
    assert client.get("/sum").json() >= 2
    assert [replica["name"] for replica in client.get("/metadata").json()["replicas"]] == ["local"]


def test_an_application_that_does_not_run_is_not_served(tmp_path: Path) -> None:
    stopped = bm.Application(program(), topics__dir=tmp_path, state__dir=tmp_path / "state")

    with pytest.raises(bm.errors.StoreNotReadyError):
        bm.serve(stopped, "127.0.0.1:0")

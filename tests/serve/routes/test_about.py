"""The API tells what the application is and does, whether it works, and numbers about it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

import brookmere as bm
from brookmere.serde import Long, Text
from brookmere.serve import Server, create_api
from brookmere.state import Replica, StoreInfo
from brookmere.topics import Topics
from tests.serve.conftest import until

STATUS = {
    "state": "running",
    "records": 12,
    "nodes": [
        {"name": "COUNT", "stage": 1, "received": 12, "forwarded": 10, "dropped": 2, "failed": 0, "late": 1}
    ],
    "inputs": [{"topic": "in", "position": [12], "end": [15], "lag": 3}],
}


@dataclass(frozen=True)
class Told:
    """A status as a dataclass, as an application tells it."""

    state: str
    at: float


def counting() -> bm.Topology:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().count(store="totals").to_stream().to("out")
    return app.build()


@pytest.fixture(scope="module")
def told(replica: Replica) -> Iterator[httpx.Client]:
    api = create_api(replica, status=lambda: STATUS, topology=counting())
    with Server(api, port=0) as server, httpx.Client(base_url=server.url) as client:
        yield client


def test_the_topology_is_text_or_json(told: httpx.Client) -> None:
    text = told.get("/topology")
    parsed = told.get("/topology", headers={"Accept": "application/json"})

    assert text.headers["content-type"].startswith("text/plain")
    assert text.text == counting().describe()
    assert parsed.json() == json.loads(counting().to_json())


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("*/*", "text/plain"),
        ("text/html,application/xhtml+xml", "text/plain"),
        ("application/json, text/plain", "application/json"),
        ("text/plain, application/json;q=0.9", "text/plain"),
    ],
)
def test_the_client_says_which_form_it_wants(told: httpx.Client, accept: str, kind: str) -> None:
    answer = told.get("/topology", headers={"Accept": accept})

    assert answer.headers["content-type"].startswith(kind)


def test_the_status_is_what_the_application_tells(told: httpx.Client) -> None:
    assert told.get("/status").json() == STATUS


def test_what_a_replica_alone_does_not_know_is_not_found(client: httpx.Client) -> None:
    assert client.get("/status").json()["type"] == "no-status"
    assert client.get("/topology").json()["type"] == "no-topology"


def test_a_status_may_be_a_dataclass(replica: Replica) -> None:
    with Server(create_api(replica, status=lambda: Told("running", 1.5)), port=0) as server:
        assert httpx.get(f"{server.url}/status").json() == {"state": "running", "at": 1.5}
        assert "brookmere_application_running 1\n" in httpx.get(f"{server.url}/metrics").text


def test_a_status_that_cannot_be_read_is_told(replica: Replica) -> None:
    def damaged() -> None:
        raise bm.errors.StateError("The status of the application cannot be read.")

    with Server(create_api(replica, status=damaged), port=0) as server:
        answer = httpx.get(f"{server.url}/status")
        assert (answer.status_code, answer.json()["type"]) == (503, "failed")
        assert "brookmere_replica_healthy 1\n" in httpx.get(f"{server.url}/metrics").text


def test_metrics_are_lines_that_prometheus_reads(told: httpx.Client) -> None:
    told.get("/stores/totals/nobody")

    answer = told.get("/metrics")

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    sample = re.compile(r'[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+')
    for line in answer.text.splitlines():
        assert line.startswith(("# HELP brookmere_", "# TYPE brookmere_")) or sample.fullmatch(line), line
    lines = set(answer.text.splitlines())
    assert lines >= {
        'brookmere_store_entries{store="totals",kind="key_value"} 4',
        'brookmere_store_lag{store="totals",kind="key_value"} 0',
        'brookmere_store_ready{store="views",kind="window"} 1',
        'brookmere_node_dropped_total{node="COUNT"} 2',
        'brookmere_input_lag{topic="in"} 3',
        'brookmere_http_answers_total{status="404"} 1',
        "brookmere_replica_healthy 1",
    }


def test_a_ready_replica_is_healthy_and_ready(client: httpx.Client) -> None:
    assert client.get("/health").json() == {"status": "ok", "error": None}
    assert client.get("/ready").json() == {"status": "ready"}


def test_a_store_that_has_not_caught_up_is_told(tmp_path: Path) -> None:
    topics = Topics(tmp_path)
    info = StoreInfo("totals", "key_value", "app-totals-changelog", Text(), Long())
    with (
        Replica("app", [info], topics, in_memory=True) as replica,
        Server(create_api(replica), port=0) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        for path in ("/ready", "/stores/totals/ann", "/stores/totals", "/updates/totals"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["type"]) == (503, "not-ready"), path
            assert answer.headers["retry-after"] == "1"
        assert client.get("/stores").json()["stores"][0]["ready"] is False
        until(lambda: client.get("/health").json()["status"] == "waiting")
        assert client.get("/health").status_code == 200
        assert "app-totals-changelog" in client.get("/health").json()["error"]
        assert "brookmere_replica_healthy 1\n" in client.get("/metrics").text

        topics.create("app-totals-changelog")

        until(lambda: client.get("/ready").status_code == 200)
        assert client.get("/health").json()["status"] == "ok"


def test_a_store_that_waits_does_not_hide_one_that_has_failed(tmp_path: Path) -> None:
    topics = Topics(tmp_path)
    infos = [
        StoreInfo(name, "key_value", f"app-{name}-changelog", Text(), Long()) for name in ("early", "totals")
    ]
    topic = topics.create("app-totals-changelog")
    topic.append([bm.Record(b"ann", Long().serialize(1), 0)])
    for segment in (topic.directory / "segments").iterdir():
        segment.write_bytes(b"not what was written")
    with (
        Replica("app", infos, topics, in_memory=True) as replica,
        Server(create_api(replica), port=0) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        # It is tried again and again, and for a moment nothing is known against it.
        until(lambda: client.get("/health").json().get("type") == "failed")
        until(lambda: "brookmere_replica_healthy 0\n" in client.get("/metrics").text)

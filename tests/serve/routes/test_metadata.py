"""Replicas tell who has which store, and where a key is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from brookmere.serde import Long, Text, partition_for
from brookmere.serve import Server, serve_replica
from brookmere.state import Replica, StoreInfo
from brookmere.topics import Topics
from tests.serve.conftest import DEADLINE, until

TOTALS = StoreInfo("totals", "key_value", "app-totals-changelog", Text(), Long())
TOWNS = StoreInfo("towns", "key_value", "towns", Long(), Text(), is_source=True, is_global=True)


@pytest.fixture
def topics(tmp_path: Path) -> Topics:
    topics = Topics(tmp_path)
    topics.create(TOTALS.topic, 4)
    topics.create(TOWNS.topic, 2)
    return topics


@pytest.fixture
def two(topics: Topics) -> Iterator[tuple[Server, Server]]:
    with (
        Replica("app", [TOTALS, TOWNS], topics, in_memory=True) as local,
        Replica("app", [TOTALS], topics, in_memory=True, name="standby-1") as standby,
        serve_replica(local, topics, "127.0.0.1:0") as one,
        serve_replica(standby, topics, "127.0.0.1:0") as other,
    ):
        for store in (*local.values(), *standby.values()):
            store.wait(timedelta(seconds=DEADLINE))
        until(lambda: len(replicas(one, "/metadata")) == 2)
        yield one, other


def replicas(server: Server, path: str) -> dict[str, bool]:
    """Return by name whether a replica is the one that answers."""
    found = httpx.get(f"{server.url}{path}").json()["replicas"]
    return {replica["name"]: replica["is_self"] for replica in found}


def test_every_replica_tells_of_all(two: tuple[Server, Server]) -> None:
    one, other = two

    until(lambda: replicas(other, "/metadata") == {"standby-1": True, "local": False})
    found = httpx.get(f"{one.url}/metadata").json()
    assert found["application"] == "app"
    assert [replica["address"] for replica in found["replicas"]] == [one.address, other.address]
    assert found["replicas"][0]["stores"] == [
        {"name": "totals", "partitions": [0, 1, 2, 3], "lag": 0, "ready": True},
        {"name": "towns", "partitions": [0, 1], "lag": 0, "ready": True},
    ]


def test_a_store_is_where_it_is_followed(two: tuple[Server, Server]) -> None:
    one, other = two

    assert replicas(one, "/metadata/totals") == {"local": True, "standby-1": False}
    assert replicas(one, "/metadata/towns") == {"local": True}
    assert httpx.get(f"{one.url}/metadata/town").json()["type"] == "no-such-store"
    # The other one does not follow the towns, and knows who does.
    until(lambda: len(replicas(other, "/metadata")) == 2)
    assert replicas(other, "/metadata/towns") == {"local": False}


def test_a_key_has_a_partition_and_replicas(two: tuple[Server, Server]) -> None:
    one, _ = two

    place = httpx.get(f"{one.url}/metadata/totals/ann").json()
    assert (place["store"], place["key"], place["partition"]) == ("totals", "ann", partition_for(b"ann", 4))
    until(lambda: replicas(one, "/metadata/totals/ann") == {"local": True, "standby-1": False})
    assert httpx.get(f"{one.url}/metadata/towns/7").json()["partition"] is None
    assert httpx.get(f"{one.url}/metadata/towns/x").json()["type"] == "invalid-key"
    assert httpx.get(f"{one.url}/metadata/totals/%FF").json()["type"] == "invalid-key"


def test_a_server_that_stops_says_goodbye(two: tuple[Server, Server]) -> None:
    one, other = two

    other.stop()

    until(lambda: replicas(one, "/metadata") == {"local": True})


def test_a_replica_alone_tells_of_itself(client: httpx.Client, server: Server) -> None:
    [found] = client.get("/metadata").json()["replicas"]

    assert (found["name"], found["address"], found["is_self"]) == ("local", server.address, True)

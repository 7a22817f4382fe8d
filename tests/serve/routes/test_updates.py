"""Updates come as server-sent events, for as long as the client listens and keeps up."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from brookmere.record import Record, WindowedKey
from brookmere.serde import Long, Text
from brookmere.serve import Server, create_api
from brookmere.serve.answers.event_streams import streams_of
from brookmere.state import Replica, StoreInfo
from brookmere.topics import Topics
from tests.serve.conftest import DEADLINE, Changelogs, until


class Events:
    """The events of a stream, one after the other."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.comments = 0

    def next(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for line in self._lines:
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, text = line.partition(": ")
                found[name] = json.loads(text) if name in ("data", "id") else text
            elif found:
                return found
        raise EOFError


@contextmanager
def listening(client: httpx.Client, path: str) -> Iterator[Events]:
    with client.stream("GET", path) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Events(answer.iter_lines())


def test_the_first_event_of_a_key_is_what_it_has_now(client: httpx.Client, changelogs: Changelogs) -> None:
    with listening(client, "/updates/moving/first") as events:
        first = events.next()
        changelogs.put("moving", ("other", 1, 1000), ("first", 2, 1001))
        second = events.next()
        changelogs.put("moving", ("first", None, 1002))
        third = events.next()

    assert first["data"] == {"key": "first", "value": None, "timestamp": None}
    assert second["data"] == {"key": "first", "value": 2, "timestamp": 1001}
    assert third["data"] == {"key": "first", "value": None, "timestamp": 1002}
    assert second["id"].keys() == {"app-moving-changelog"}


def test_the_id_of_an_event_is_a_position_to_ask_for(client: httpx.Client, changelogs: Changelogs) -> None:
    with listening(client, "/updates/moving/asked") as events:
        events.next()
        changelogs.put("moving", ("asked", 5, 1000))
        found = events.next()

    answer = client.get("/stores/moving/asked", params={"at_least": json.dumps(found["id"])})
    assert answer.json() == found["data"]


def test_a_key_that_is_there_comes_with_its_row(client: httpx.Client) -> None:
    with listening(client, "/updates/totals/bob") as events:
        assert events.next()["data"] == {"key": "bob", "value": 1, "timestamp": 1001}
    with listening(client, "/updates/views/home") as events:
        assert events.next()["data"]["key"] == {"key": "home", "start": 10_000, "end": 15_000}
    with listening(client, "/updates/prices/A") as events:
        assert events.next()["data"] == {"key": "A", "value": 2.5, "timestamp": 2000}


def test_a_store_tells_of_all_its_keys(
    client: httpx.Client, changelogs: Changelogs, replica: Replica
) -> None:
    with listening(client, "/updates/views") as events:
        changelogs.put("views", (WindowedKey("new", 5000, 10_000), 9, 6000))
        found = events.next()["data"]

    assert found == {"key": {"key": "new", "start": 5000, "end": 10_000}, "value": 9, "timestamp": 6000}


def test_a_silent_stream_shows_that_it_is_alive(client: httpx.Client, changelogs: Changelogs) -> None:
    with listening(client, "/updates/flags?seconds=0.7") as events, pytest.raises(EOFError):
        events.next()

    assert events.comments >= 3


def test_a_client_that_leaves_frees_its_stream(client: httpx.Client, server: Server) -> None:
    streams = streams_of(server.api)
    until(lambda: len(streams) == 0)

    with listening(client, "/updates/flags/true") as events:
        events.next()
        assert len(streams) == 1
        assert "brookmere_http_streams 1\n" in client.get("/metrics").text

    until(lambda: len(streams) == 0)


def test_a_stream_ends_with_an_error_when_too_much_has_come(replica: Replica, changelogs: Changelogs) -> None:
    with Server(create_api(replica), port=0) as server, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect((server.host, server.port))
        slow.settimeout(DEADLINE)
        slow.sendall(b"GET /updates/moving HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"text/event-stream" in slow.recv(4096)
        streams = streams_of(server.api)
        until(lambda: len(streams) == 1)
        with replica["moving"].updates() as told:
            # The system holds some megabytes before the server notices that nobody reads.
            for part in range(5):
                changelogs.put("moving", *((f"{part}-{n}" + "x" * 1000, n, 1000) for n in range(9000)))
                for _ in range(9000):
                    assert told.get(timedelta(seconds=DEADLINE)) is not None
        found = b""
        while not found.endswith(b"0\r\n\r\n"):
            found = found[-4096:] + slow.recv(1 << 20)

    assert b"event: error\ndata: " in found
    assert b'"type": "too-slow"' in found


def test_a_stream_ends_with_an_error_when_the_replica_begins_anew(tmp_path: Path) -> None:
    topics = Topics(tmp_path)
    info = StoreInfo("totals", "key_value", "app-totals-changelog", Text(), Long())
    topics.create(info.topic).append(Record(b"ann", Long().serialize(n), 0) for n in range(3))
    with (
        Replica("app", [info], topics, in_memory=True) as replica,
        Server(create_api(replica), port=0) as server,
        httpx.Client(base_url=server.url, timeout=DEADLINE) as client,
    ):
        replica["totals"].wait(timedelta(seconds=DEADLINE))
        with listening(client, f"/updates/totals/ann?seconds={DEADLINE}") as events:
            first = events.next()

            # As a reset does, and the next start of the application.
            topics.delete(info.topic)
            topics.create(info.topic).append([Record(b"ann", Long().serialize(7), 0)])

            second = events.next()
            with pytest.raises(EOFError):
                events.next()
        replica["totals"].wait(timedelta(seconds=DEADLINE))
        with listening(client, "/updates/totals/ann") as events:
            third = events.next()

    assert first["data"]["value"] == 2
    assert (second["event"], second["data"]["type"]) == ("error", "not-ready")
    assert third["data"]["value"] == 7


def test_a_stop_of_the_server_ends_the_streams(replica: Replica) -> None:
    server = Server(create_api(replica), port=0).start()
    with (
        httpx.Client(base_url=server.url, timeout=DEADLINE) as client,
        listening(client, "/updates/totals/ann") as events,
    ):
        events.next()

        server.stop()

        with pytest.raises(EOFError):
            events.next()
    assert not server.is_running


@pytest.mark.parametrize(
    ("path", "type"),
    [
        ("/updates/nothing", "no-such-store"),
        ("/updates/people/x", "invalid-key"),
        ("/updates/totals?seconds=-1", "invalid-request"),
        ("/updates/totals/%FF", "invalid-key"),
    ],
)
def test_what_cannot_be_followed_is_refused(client: httpx.Client, path: str, type: str) -> None:
    answer = client.get(path)

    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == type

"""A replica of stores of every kind, on changelogs that the tests write themselves, and its API."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from brookmere.record import Record, WindowedKey
from brookmere.serde import Bool, Bytes, Double, Int, Json, Long, Serde, Text, Windowed
from brookmere.serve import Server, create_api
from brookmere.state import Replica, StoreInfo
from brookmere.topics import Topics

DEADLINE = 20.0
_MEMORY = Path("/dev/shm")

STORES = (
    StoreInfo("totals", "key_value", "app-totals-changelog", Text(), Long()),
    StoreInfo("moving", "key_value", "app-moving-changelog", Text(), Long()),
    StoreInfo("people", "key_value", "people", Long(), Json("id bigint, name string"), is_source=True),
    StoreInfo(
        "boards", "key_value", "app-boards-changelog", Json("game string, day int"), Json("top array<int>")
    ),
    StoreInfo("blobs", "key_value", "app-blobs-changelog", Bytes(), Bytes()),
    StoreInfo("rates", "key_value", "app-rates-changelog", Int(), Double()),
    StoreInfo("flags", "key_value", "app-flags-changelog", Bool(), Bool()),
    StoreInfo("views", "window", "app-views-changelog", Text(), Long(), window_ms=5000),
    StoreInfo("visits", "session", "app-visits-changelog", Text(), Long()),
    StoreInfo("prices", "versioned", "app-prices-changelog", Text(), Double(), retention_ms=1_000_000),
)
_BY_NAME = {info.name: info for info in STORES}

_ROWS: dict[str, list[tuple[object, object, int]]] = {
    "totals": [("ann", 0, 1000), ("bob", 1, 1001), ("cy/d", 2, 1002), ("eve", 3, 1003)],
    "moving": [("ann", 1, 1000)],
    "people": [(7, {"id": 7, "name": "Zoë"}, 1000)],
    "boards": [({"game": "go", "day": 3}, {"top": [3, 2, 1]}, 1000)],
    "blobs": [(b"\x00\xff", b"\x01", 1000)],
    "rates": [(-5, float("nan"), 1000)],
    "flags": [(True, False, 1000)],
    "views": [
        *((WindowedKey("home", start, start + 5000), start // 1000, start) for start in (0, 5000, 10_000)),
        (WindowedKey("shop", 5000, 10_000), 1, 5000),
    ],
    "visits": [(WindowedKey("ann", 100, 900), 4, 900), (WindowedKey("ann", 5000, 6000), 2, 6000)],
    "prices": [("A", 1.5, 1000), ("A", 2.5, 2000)],
}


@dataclass(frozen=True)
class Changelogs:
    """Writes to the changelogs as the application would."""

    topics: Topics

    def put(self, store: str, *rows: tuple[object, object, int]) -> None:
        info = _BY_NAME[store]
        keys = _key_serde(info)
        self.topics[info.topic].append(
            Record(keys.serialize(key), info.value.serialize(value), timestamp)
            for key, value, timestamp in rows
        )


def _key_serde(info: StoreInfo) -> Serde:
    if info.kind == "window":
        return Windowed(info.key)
    return Windowed(info.key, session=True) if info.kind == "session" else info.key


@pytest.fixture(scope="module")
def changelogs() -> Iterator[Changelogs]:
    folder = Path(tempfile.mkdtemp(dir=_MEMORY if _MEMORY.is_dir() else None))
    found = Changelogs(Topics(folder / "topics"))
    for info in STORES:
        found.topics.create(info.topic, 2)
        found.put(info.name, *_ROWS[info.name])
    yield found
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def replica(changelogs: Changelogs) -> Iterator[Replica]:
    with Replica("app", STORES, changelogs.topics, in_memory=True) as replica:
        for store in replica.values():
            store.wait(timedelta(seconds=DEADLINE))
        yield replica


@pytest.fixture(scope="module")
def server(replica: Replica) -> Iterator[Server]:
    with Server(create_api(replica, heartbeat=0.2), port=0) as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=DEADLINE) as client:
        yield client


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)

"""Topics and state of an application under test, and programs for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import functions as F

import brookmere as bm


class Home:
    """Topics and state of a test."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.topics = bm.Topics(directory / "topics")

    def application(self, program: bm.StreamsBuilder | bm.Topology, **settings: Any) -> bm.Application:
        directories = {"topics.dir": self.topics.directory, "state.dir": self.directory / "state"}
        return bm.Application(program, {**directories, "num.stream.threads": 2}, **settings)

    def run(self, program: bm.StreamsBuilder, **settings: Any) -> bm.Application:
        """Run until everything is processed."""
        with self.application(program, **settings) as application:
            application.process_all_available()
        return application

    def write(self, topic: str, *values: str | bytes, key: str | None = "k") -> None:
        keys = None if key is None else key.encode()
        data = [value.encode() if isinstance(value, str) else value for value in values]
        self.topics.create(topic, exist_ok=True).append([bm.Record(keys, v, n) for n, v in enumerate(data)])

    def read(self, topic: str, value: bm.Serde | None = None) -> list[Any]:
        serde = value or bm.Text()
        found = self.topics[topic]
        return [serde.deserialize(r.value) for p in range(found.partitions) for r in found.read(p)]


def shout(name: str = "shout") -> bm.StreamsBuilder:
    app = bm.StreamsBuilder(name, key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(lambda value: F.concat(value, F.lit("!"))).to("out")
    return app


def count() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("count", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().count(store="counts").to_stream().to("out")
    return app


def numbers(**source: Any) -> bm.StreamsBuilder:
    """Reads numbers, and divides by them."""
    app = bm.StreamsBuilder("numbers", key=bm.Text(), value=bm.Int())
    app.stream("in", **source).map_values(lambda n: 60 / n, name="divide").to("out")
    return app


def number(n: int) -> bytes:
    data = bm.Int().serialize(n)
    assert data is not None
    return data


def let_stores_follow(application: bm.Application) -> None:
    """Wait until the stores have what is in their changelogs now, however they are asked afterwards.

    That a store is ready says less: it was level with its changelog once, as this was when it began.
    """
    for name in application.stores:
        application.store(name)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)

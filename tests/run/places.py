"""Directories of topics in which the tests of this folder run programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.plan.stages import plan
from brookmere.run.compile.compiler import compile_plan
from brookmere.run.query.query import Query, QueryOptions, TopicsQuery
from brookmere.run.query.transports import Embedded

Kept = tuple[bytes | None, bytes | None, int, tuple[tuple[str, bytes | None], ...]]


class Place:
    """A directory of topics and a checkpoint, and the way to run a program on them."""

    def __init__(self, directory: Path, spark: SparkSession) -> None:
        self.topics = bm.Topics(directory / "topics")
        self.checkpoint = directory / "checkpoint"
        self._spark = spark

    def feed(self, topic: str, *records: tuple[Any, Any, int], partition: int | None = None) -> None:
        rows = [bm.Record(_bytes(k), _bytes(v), ts, partition=partition) for k, v, ts in records]
        self.topics[topic].append(rows)

    @contextmanager
    def running(
        self,
        app: bm.StreamsBuilder,
        *,
        emit: str = "every",
        continue_on: tuple[str, ...] = (),
        **options: Any,
    ) -> Iterator[Query]:
        topology = app.build()
        counts = {name: self.topics[name].partitions for name in self.topics.names()}
        compiled = compile_plan(
            plan(topology, counts),
            self._spark,
            last_per_batch=emit == "last",
            continue_on=continue_on,
        )
        transport = Embedded(self.topics.directory, options.pop("new_partitions", 1))
        query = TopicsQuery(compiled, self._spark, transport, "app", QueryOptions(**options)).start(
            self.checkpoint
        )
        try:
            yield query
        finally:
            query.stop()

    def run(self, app: bm.StreamsBuilder, **options: Any) -> None:
        with self.running(app, **options) as query:
            query.process_all_available()

    def read(self, topic: str, partition: int = 0) -> list[Kept]:
        return [(r.key, r.value, r.timestamp, r.headers) for r in self.topics[topic].read(partition)]


def _bytes(value: Any) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else str(value).encode()


def values(kept: Sequence[Kept]) -> list[bytes | None]:
    return [value for _, value, _, _ in kept]


def copying(*topics: str) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Bytes(), value=bm.Bytes())
    app.stream(list(topics)).to("out")
    return app


def counting() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by(lambda key, value: value).count(store="n").to_stream().to(
        "out", value=bm.Long()
    )
    return app

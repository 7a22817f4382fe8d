"""Applications under test on a real Kafka: their topics, their settings and their state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import brookmere as bm
from brookmere.broker import Broker
from brookmere.topics.kafka import KafkaTopics

Name = Callable[[str], str]


class KafkaHome:
    """Topics and state of a test. `name` gives topics and applications names that no other test has."""

    def __init__(self, broker: Broker, directory: Path, name: Name) -> None:
        self.broker = broker
        self.directory = directory
        self.name = name
        self.settings: dict[str, Any] = {
            "bootstrap.servers": broker.bootstrap_servers,
            "state.dir": directory / "state",
            "num.stream.threads": 2,
        }
        self.topics = KafkaTopics({"bootstrap.servers": broker.bootstrap_servers})

    def builder(self, short: str, key: bm.Serde | None = None, value: bm.Serde | None = None) -> Any:
        return bm.StreamsBuilder(self.name(short), key=key or bm.Text(), value=value or bm.Text())

    def application(self, program: bm.StreamsBuilder | bm.Topology, **settings: Any) -> bm.Application:
        return bm.Application(program, self.settings, **settings)

    def run(self, program: bm.StreamsBuilder, **settings: Any) -> bm.Application:
        """Run until everything is processed."""
        with self.application(program, **settings) as application:
            application.process_all_available()
        return application

    def create(self, short: str, partitions: int = 1, **config: Any) -> str:
        topic = self.name(short)
        self.topics.create(topic, partitions, {k.replace("__", "."): v for k, v in config.items()})
        return topic

    def write(self, short: str, *values: str | bytes | None, key: str | None = "k", start: int = 1) -> None:
        """Write values with the times from `start` on."""
        keys = None if key is None else key.encode()
        data = [value.encode() if isinstance(value, str) else value for value in values]
        self.topics.create(self.name(short), exist_ok=True)
        self.append(short, *(bm.Record(keys, v, start + n) for n, v in enumerate(data)))

    def append(self, short: str, *records: bm.Record) -> None:
        self.topics[self.name(short)].append(records)

    def records(self, short: str) -> list[bm.Record]:
        """Return what is committed, partition by partition."""
        found = self.topics[self.name(short)]
        return [record for partition in range(found.partitions) for record in found.read(partition)]

    def read(self, short: str, value: bm.Serde | None = None) -> list[Any]:
        serde = value or bm.Text()
        return [serde.deserialize(record.value) for record in self.records(short)]

    def shout(self, **source: Any) -> bm.StreamsBuilder:
        from pyspark.sql import functions as F

        app: bm.StreamsBuilder = self.builder("shout")
        app.stream(self.name("in"), **source).map_values(lambda value: F.concat(value, F.lit("!"))).to(
            self.name("out")
        )
        return app

    def count(self) -> bm.StreamsBuilder:
        app: bm.StreamsBuilder = self.builder("count")
        app.stream(self.name("in")).group_by_key().count(store="counts").to_stream().to(self.name("out"))
        return app

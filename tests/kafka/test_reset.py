"""A reset application on Kafka begins where it was told, and its consumer group says so."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.broker import Broker
from brookmere.run.launch.reset import Reset, execute, plan_reset
from brookmere.topics import AnyTopic
from brookmere.topics.kafka import KafkaTopics

Name = Callable[[str], str]


class Site:
    """An application that counts, its topics and its state."""

    def __init__(self, broker: Broker, directory: Path, name: Name) -> None:
        self.topics = KafkaTopics({"bootstrap.servers": broker.bootstrap_servers})
        self.input, self.output, self.id = name("in"), name("out"), name("app")
        self.settings = {
            "bootstrap.servers": broker.bootstrap_servers,
            "state.dir": directory,
            "num.stream.threads": 2,
        }
        self.topics.create(self.input, 2)
        self.program = bm.StreamsBuilder(self.id, key=bm.Text(), value=bm.Text())
        counts = self.program.stream(self.input).group_by_key().count(store="counts")
        counts.to_stream().to(self.output)

    def application(self) -> bm.Application:
        return bm.Application(self.program, self.settings)

    def run(self) -> None:
        with self.application() as application:
            application.process_all_available()

    def planned(self, target: Callable[[AnyTopic], list[int]]) -> Reset:
        made = self.application()
        return plan_reset(self.program, made.config, made.state_directory, target)

    def write(self, *values: bytes) -> None:
        records = [bm.Record(b"k%d" % p, value, 1000, partition=p) for value in values for p in (0, 1)]
        self.topics[self.input].append(records)

    def counts(self) -> list[tuple[bytes, int]]:
        found = self.topics[self.output]
        records = [record for p in range(found.partitions) for record in found.read(p)]
        return sorted((r.key, bm.Long().deserialize(r.value)) for r in records)


@pytest.fixture
def site(kafka: Broker, tmp_path: Path, name: Name) -> Site:
    return Site(kafka, tmp_path, name)


def test_application_begins_where_it_was_told(site: Site, spark: SparkSession) -> None:
    site.write(b"a", b"b", b"c")
    site.run()
    plan = site.planned(lambda topic: [1, 2])

    execute(plan, site.application().config)
    committed = site.topics.groups.offsets(site.id)
    left = [name for name in site.topics.groups.names() if name.startswith(f"{site.id}-sink-")]
    site.run()

    assert [(move.partition, move.old, move.new) for move in plan.moves] == [(0, 3, 1), (1, 3, 2)]
    assert plan.topics == (f"{site.id}-counts-changelog",)
    assert plan.groups
    assert committed == {(site.input, 0): 1, (site.input, 1): 2}
    assert left == []
    assert site.counts() == [(b"k0", 2), (b"k0", 3), (b"k1", 1), (b"k1", 3)]
    assert site.topics.groups.offsets(site.id) == {(site.input, 0): 3, (site.input, 1): 3}


def test_positions_of_a_group_are_known_without_a_state_directory(site: Site) -> None:
    site.write(b"a")
    site.topics.groups.set_offsets(site.id, {site.input: [1, 0]})

    plan = site.planned(lambda topic: topic.end_offsets())

    assert [(move.partition, move.old, move.new) for move in plan.moves] == [(0, 1, 1), (1, 0, 1)]


def test_group_with_members_is_refused(site: Site) -> None:
    server = site.topics.bootstrap_servers
    member = Consumer({"bootstrap.servers": server, "group.id": site.id, "client.id": "elsewhere"})
    member.subscribe([site.input])
    try:
        deadline = time.monotonic() + 60
        while not member.assignment() and time.monotonic() < deadline:
            member.poll(0.2)

        with pytest.raises(bm.errors.InstanceError, match="has the members elsewhere on "):
            site.planned(lambda topic: topic.start_offsets())
    finally:
        member.close()

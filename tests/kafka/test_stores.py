"""Stores of an application on a real Kafka: asked in its process, and by replicas elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.broker import Broker
from brookmere.state.description.store_file import read_stores
from tests.kafka.homes import KafkaHome

pytestmark = pytest.mark.usefixtures("spark")

Name = Callable[[str], str]
START = 1_700_000_000_000


def program(home: KafkaHome) -> bm.StreamsBuilder:
    app = home.builder("app")
    grouped = app.stream(home.name("in")).group_by_key()
    grouped.count(store="counts")
    grouped.windowed_by(bm.TimeWindows(timedelta(seconds=10))).count(
        store="windows", retention=timedelta(days=1)
    )
    app.table(home.name("names"), store="names")
    return app


def test_stores_are_asked_while_the_application_runs(kafka: Broker, name: Name, tmp_path: Path) -> None:
    home = KafkaHome(kafka, tmp_path, name)
    # The records are old, and Kafka counts from today.
    home.settings["windowstore.changelog.additional.retention.ms"] = 10**13
    for topic in ("in", "names"):
        home.create(topic, 2)
    home.append("names", bm.Record(b"a", b"Ada", START), bm.Record(b"b", b"\xff", START))
    settings = {"deserialization__exception__handler": "continue"}

    with home.application(program(home), **settings) as application:
        counts = application.store("counts")
        for number in range(1, 4):
            offsets = home.topics[name("in")].append([bm.Record(b"a", b"v", START + number)]).offsets
            written = {name("in"): {partition: found.stop for partition, found in offsets.items()}}
            assert counts.at_least(written, timeout="60s").get("a") == number

        window = (START // 10_000) * 10_000
        assert application.store("windows").get("a", window) == 3
        assert list(application.store("names").all()) == [("a", "Ada")]
        seen = counts.query(bm.queries.KeyQuery("a"))
        assert seen.inputs.covers(written)

        stores = read_stores(application.state_directory)
        assert stores is not None
        with bm.Replica(name("app"), stores, home.topics, in_memory=True) as replica:
            other = replica.store("counts", type=bm.queries.KeyValueStore).wait()
            assert other.at_least(seen.position).get("a") == 3


def test_a_start_goes_on_with_the_files_of_the_last(kafka: Broker, name: Name, tmp_path: Path) -> None:
    home = KafkaHome(kafka, tmp_path, name)
    for topic in ("in", "names"):
        home.create(topic, 2)
    for number in (1, 2):
        home.append("in", bm.Record(b"a", b"v", START + number))
        with home.application(program(home)) as application:
            application.process_all_available()

            assert application.store("counts").get("a") == number

"""Changelogs on a real Kafka: created as Kafka Streams creates them, written with the output."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from brookmere.broker import Broker
from brookmere.topics.kafka import KafkaTopics

pytestmark = pytest.mark.usefixtures("spark")

Name = Callable[[str], str]

START = 1_700_000_000_000
SIZE = timedelta(seconds=10)


def program(name: Name) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder(name("app"), key=bm.Text(), value=bm.Text())
    grouped = app.stream(name("in")).group_by_key()
    grouped.count(store="counts").to_stream().to(name("out"))
    windows = bm.TimeWindows(SIZE, grace=timedelta(0))
    grouped.windowed_by(windows, emit="close").count(store="windows")
    return app


def rows(topics: KafkaTopics, topic: str, key: bm.Serde) -> dict[Any, tuple[int, int]]:
    found = topics[topic]
    records = [record for partition in range(found.partitions) for record in found.read(partition)]
    return {key.deserialize(r.key): (bm.Long().deserialize(r.value), r.timestamp) for r in records}


def test_changelogs_are_created_and_written(kafka: Broker, name: Name, tmp_path: Path) -> None:
    topics = KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers})
    topics.create(name("in"), 3)
    settings = {
        "bootstrap.servers": kafka.bootstrap_servers,
        "state.dir": tmp_path,
        "replication.factor": 1,
        "topic.segment.bytes": 1_048_576,
        # The records are old, and Kafka counts from today.
        "windowstore.changelog.additional.retention.ms": 10**13,
    }
    for batch in (["a", "b", "a"], ["c", "a"]):
        topics[name("in")].append(bm.Record(key.encode(), b"v", START + n) for n, key in enumerate(batch))
        with bm.Application(program(name), settings) as application:
            application.process_all_available()

    counts, windows = (f"{name('app')}-{store}-changelog" for store in ("counts", "windows"))
    assert (topics[counts].partitions, topics[windows].partitions) == (3, 3)
    of_counts, of_windows = topics[counts].config.by_name(), topics[windows].config.by_name()
    assert (of_counts["cleanup.policy"], str(of_counts["segment.bytes"])) == ("compact", "1048576")
    assert set(str(of_windows["cleanup.policy"]).split(",")) == {"compact", "delete"}
    assert int(of_windows["retention.ms"]) == 10_000 + 10**13
    expected = {"a": (3, START + 2), "b": (1, START + 1), "c": (1, START)}
    assert rows(topics, counts, bm.Text()) == expected
    start = START // 10_000 * 10_000
    assert rows(topics, windows, bm.Windowed(bm.Text(), size=SIZE)) == {
        bm.WindowedKey(key, start, start + 10_000): row for key, row in expected.items()
    }
    out, log = ([{r.key: p} for p in range(3) for r in topics[t].read(p)] for t in (name("out"), counts))
    assert out == log

"""Read the sample data of an example as records, as `brookmere produce --format json` does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brookmere as bm
from brookmere.cli.options.parameters import read_time
from brookmere.testing import TopologyTestDriver

_DATA = Path(__file__).resolve().parents[2] / "examples" / "data"


def sample(example: str) -> Iterator[tuple[str, bm.Record]]:
    """Read each file as the records of the topic that it is named after."""
    for file in sorted((_DATA / example).glob("*.jsonl")):
        for line in file.read_text().splitlines():
            given = json.loads(line)
            time = read_time(str(given["timestamp"]))
            yield file.stem, bm.Record(_bytes(given.get("key")), _bytes(given["value"]), time)


def fill(topics: bm.Topics, example: str, *, partitions: int = 1) -> None:
    """Write the sample data to topics that are created for it."""
    for topic, record in sample(example):
        topics.create(topic, partitions=partitions, exist_ok=True)
        with topics.producer(topic, key=bm.Bytes(), value=bm.Bytes()) as producer:
            producer.send(record.key, record.value, timestamp=record.timestamp)


def feed(driver: TopologyTestDriver, example: str, *first: str) -> None:
    """Pipe the sample data, the topics `first` before the others, and each topic in the order of its file."""
    records = list(sample(example))
    for topic, record in sorted(records, key=lambda one: one[0] not in first):
        pipe(driver, topic, record.key, record.value, record.timestamp)


def pipe(driver: TopologyTestDriver, topic: str, key: Any, value: Any, timestamp: int) -> None:
    """Pipe one record as bytes, so that it may be one that its topic should not hold."""
    raw = driver.input_topic(topic, key=bm.Bytes(), value=bm.Bytes())
    raw.pipe_input(_bytes(key), _bytes(value), timestamp=timestamp)


def _bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()

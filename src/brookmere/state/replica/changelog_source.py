"""Reads a changelog in chunks as records arrive: from an embedded topic, or committed records from Kafka."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import Protocol

import pyarrow as pa

from brookmere.record import Record
from brookmere.state.rows.chunk import Chunk
from brookmere.topics import AnyTopic, AnyTopics, Topic

_CHUNK_RECORDS = 10_000


class Source(Protocol):
    """The source of a changelog's records."""

    look_seconds: float
    """How often to look up end offsets; depends on what that costs."""

    def poll(self, timeout: float) -> Iterator[Chunk]:
        """Iterate over available records; wait up to `timeout` seconds if there are none."""

    def ends(self) -> list[int]:
        """Return the offset after the last readable record of each partition."""

    def close(self) -> None:
        """Close connections."""


def source_of(topics: AnyTopics, topic: AnyTopic, positions: Mapping[int, int]) -> Source:
    """Return a source that starts at these offsets of a topic."""
    return Embedded(topic, positions) if isinstance(topic, Topic) else Committed(topics, topic, positions)


class Embedded:
    """Reads the segments of an embedded topic, column by column."""

    look_seconds = 0.0

    def __init__(self, topic: Topic, positions: Mapping[int, int]) -> None:
        self._topic = topic
        self._positions = dict(positions)
        self._seen = topic.end_offsets()

    def poll(self, timeout: float) -> Iterator[Chunk]:
        # Read up to the ends seen last, so that the manifest is read once for both.
        moved = False
        for partition, end in enumerate(self._seen):
            at = self._positions[partition]
            if at == end:
                continue
            moved = True
            for batch in self._topic.read_batches(partition, at, end):
                for start in range(0, batch.num_rows, _CHUNK_RECORDS):
                    chunk = _chunk(partition, batch.slice(start, _CHUNK_RECORDS))
                    self._positions[partition] = chunk.end
                    yield chunk
            if self._positions[partition] < end:
                # Compaction removed the last records.
                self._positions[partition] = end
                yield Chunk(partition, (), (), (), (), end)
        if not moved:
            time.sleep(timeout)

    def ends(self) -> list[int]:
        self._seen = self._topic.end_offsets()
        return self._seen

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class Committed:
    """Reads committed records of a Kafka topic."""

    look_seconds = 1.0

    def __init__(self, topics: AnyTopics, topic: AnyTopic, positions: Mapping[int, int]) -> None:
        self._topic = topic
        self._consumer = topics.consumer(topic.name, start=positions, follow=True)

    def poll(self, timeout: float) -> Iterator[Chunk]:
        before = dict(self._consumer.positions)
        records = self._consumer.poll(timedelta(seconds=timeout), limit=_CHUNK_RECORDS)
        after = dict(self._consumer.positions)
        for partition, found in groupby(sorted(records, key=_place), key=attrgetter("partition")):
            yield _chunk_of(partition, list(found), after[partition])
        empty = set(after) - {record.partition for record in records}
        for partition in empty:
            # Transaction markers take up offsets, too.
            if after[partition] != before[partition]:
                yield Chunk(partition, (), (), (), (), after[partition])

    def ends(self) -> list[int]:
        return self._topic.end_offsets()

    def close(self) -> None:
        self._consumer.close()


def _place(record: Record) -> tuple[int, int]:
    return record.partition or 0, record.offset or 0


def _chunk(partition: int, batch: pa.RecordBatch) -> Chunk:
    offsets = batch.column("offset").to_pylist()
    return Chunk(
        partition,
        offsets,
        batch.column("timestamp").cast(pa.int64()).to_pylist(),
        batch.column("key").to_pylist(),
        batch.column("value").to_pylist(),
        offsets[-1] + 1,
    )


def _chunk_of(partition: int, records: list[Record], end: int) -> Chunk:
    return Chunk(
        partition,
        [record.offset or 0 for record in records],
        [record.timestamp for record in records],
        [record.key for record in records],
        [record.value for record in records],
        end,
    )

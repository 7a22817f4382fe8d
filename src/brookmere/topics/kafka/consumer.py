"""The consumer of a Kafka topic: merges partitions by time and decodes records."""

from __future__ import annotations

import time
from collections import deque
from datetime import timedelta
from typing import Self

from confluent_kafka import TopicPartition

from brookmere.durations import Duration, to_seconds
from brookmere.record import Record
from brookmere.serde import Serde
from brookmere.topics.any_topics import Start
from brookmere.topics.consumer import decoded, positions_of
from brookmere.topics.kafka.connection import Connection
from brookmere.topics.kafka.messages import asked_to_read, fetched, is_end, record_of
from brookmere.topics.kafka.topic import KafkaTopic

_WAIT_SECONDS = 0.2
# A partition this many records ahead of the others waits for them.
_MOST_HELD, _FEW_HELD = 20_000, 1_000


class KafkaConsumer:
    """Reads a Kafka topic. Create one with `KafkaTopics.consumer`; it joins no group and commits nothing.

    Iterating yields the records up to the current end, or with `follow` waits for more and never ends.
    Records of a partition come in offset order; across partitions the oldest next record comes first, and
    records that arrive while it waits come in order of arrival. Only committed records are read. A record
    that cannot be decoded raises a DeserializationError; the next call continues after it.
    """

    def __init__(
        self,
        connection: Connection,
        topic: KafkaTopic,
        key: Serde | None,
        value: Serde | None,
        *,
        start: Start,
        follow: bool = False,
    ) -> None:
        self.topic = topic
        self.positions = positions_of(topic, start)
        self._connection = connection
        self._key = None if key is None else key.for_topic(topic.name, is_key=True)
        self._value = None if value is None else value.for_topic(topic.name, is_key=False)
        self._follow = follow
        self._asked = asked_to_read(topic.name)
        ends = topic.end_offsets()
        # The end offsets at the start: records before them are merged in time order.
        self._behind = {p: ends[p] for p, position in self.positions.items() if position < ends[p]}
        self._held: dict[int, deque[Record]] = {partition: deque() for partition in self.positions}
        self._paused: set[int] = set()
        # The last known end of each partition: after its last record and after transaction markers.
        self._ends: dict[int, int] = {}
        self._client = connection.reader()
        self._client.assign([TopicPartition(topic.name, p, at) for p, at in self.positions.items()])

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Record:
        while True:
            record = self._take(_WAIT_SECONDS if self._follow else 0.0)
            if record is not None:
                return decoded(record, self._key, self._value)
            if not self._follow:
                raise StopIteration

    def poll(self, timeout: Duration = timedelta(0), *, limit: int = 500) -> list[Record]:
        """Return up to `limit` records as soon as there are any, or none after the timeout."""
        deadline = time.monotonic() + to_seconds(timeout)
        records: list[Record] = []
        while len(records) < limit:
            left = 0.0 if records else max(0.0, deadline - time.monotonic())
            record = self._take(left)
            if record is None:
                if records or time.monotonic() >= deadline:
                    break
                continue
            records.append(decoded(record, self._key, self._value))
        return records

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _take(self, wait: float) -> Record | None:
        """Return the next record, or None if none arrived for `wait` seconds and none is known to exist."""
        heard = time.monotonic()
        while any(not self._held[partition] for partition in self._behind):
            if self._fetch(_WAIT_SECONDS):
                heard = time.monotonic()
            else:
                self._connection.check(self._asked, heard)
        heads = [(held[0].timestamp, partition) for partition, held in self._held.items() if held]
        if not heads and self._fetch(wait):
            heads = [(held[0].timestamp, partition) for partition, held in self._held.items() if held]
        if not heads:
            return None
        return self._pop(min(heads)[1])

    def _pop(self, partition: int) -> Record:
        record = self._held[partition].popleft()
        assert record.offset is not None
        self.positions[partition] = record.offset + 1
        self._pass_gap(partition)
        if partition in self._behind and self.positions[partition] >= self._behind[partition]:
            del self._behind[partition]
        if partition in self._paused and len(self._held[partition]) < _FEW_HELD:
            self._paused.discard(partition)
            self._client.resume([TopicPartition(self.topic.name, partition)])
        return record

    def _pass_gap(self, partition: int) -> None:
        if not self._held[partition]:
            self.positions[partition] = max(self.positions[partition], self._ends.get(partition, 0))

    def _fetch(self, wait: float) -> bool:
        messages = fetched(self._client, wait)
        for message in messages:
            partition = message.partition()
            if is_end(message, self._connection, self._asked):
                # Everything before the end is buffered; transactions may leave nothing readable after it.
                self._behind.pop(partition, None)
                self._ends[partition] = message.offset()
                self._pass_gap(partition)
            elif message.error() is None:
                self._held[partition].append(record_of(message))
        for partition, held in self._held.items():
            if len(held) > _MOST_HELD and partition not in self._paused:
                self._paused.add(partition)
                self._client.pause([TopicPartition(self.topic.name, partition)])
        return bool(messages)

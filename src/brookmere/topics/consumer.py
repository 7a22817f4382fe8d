"""The consumer of an embedded topic: merges partitions by time and decodes records."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Self

from brookmere.durations import Duration, to_seconds
from brookmere.errors import DeserializationError, TopicError
from brookmere.record import Record
from brookmere.serde import BadBytes, Serde
from brookmere.topics.any_topics import AnyTopic, Start
from brookmere.topics.log.topic import Topic
from brookmere.topics.times import milliseconds

# How often a waiting consumer checks for new records.
_LOOK_SECONDS = 0.02


class Consumer:
    """Reads a topic. Create one with `Topics.consumer`.

    Iterating yields the records up to the current end, or with `follow` waits for more and never ends.
    Records of a partition come in offset order; across partitions the oldest next record comes first.
    A record that cannot be decoded raises a DeserializationError; the next call continues after it.
    """

    def __init__(
        self, topic: Topic, key: Serde | None, value: Serde | None, *, start: Start, follow: bool = False
    ) -> None:
        self.topic = topic
        self.positions = positions_of(topic, start)
        self._key = None if key is None else key.for_topic(topic.name, is_key=True)
        self._value = None if value is None else value.for_topic(topic.name, is_key=False)
        self._follow = follow
        self._heads: list[tuple[int, int, Record]] = []
        self._rest: dict[int, Iterator[Record]] = {}
        self._under_way = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Record:
        while True:
            record = self._take()
            if record is not None:
                return decoded(record, self._key, self._value)
            if not self._follow:
                raise StopIteration
            time.sleep(_LOOK_SECONDS)

    def poll(self, timeout: Duration = timedelta(0), *, limit: int = 500) -> list[Record]:
        """Return up to `limit` records as soon as there are any, or none after the timeout."""
        deadline = time.monotonic() + to_seconds(timeout)
        records: list[Record] = []
        while True:
            while len(records) < limit and (record := self._take()) is not None:
                records.append(decoded(record, self._key, self._value))
            left = deadline - time.monotonic()
            if records or left <= 0:
                return records
            time.sleep(min(_LOOK_SECONDS, left))

    def close(self) -> None:
        """Close the files."""
        self._heads.clear()
        self._rest.clear()
        self._under_way = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _take(self) -> Record | None:
        """Return the next record that existed when this round started, or None at the end of the round."""
        if not self._under_way:
            self._begin()
        if not self._heads:
            self._under_way = False
            return None
        _, partition, record = self._heads[0]
        following = next(self._rest[partition], None)
        if following is None:
            heapq.heappop(self._heads)
        else:
            heapq.heapreplace(self._heads, (following.timestamp, partition, following))
        assert record.offset is not None
        self.positions[partition] = record.offset + 1
        return record

    def _begin(self) -> None:
        ends = self.topic.end_offsets()
        self._heads.clear()
        for partition, position in self.positions.items():
            if position == ends[partition]:
                continue
            rest = self.topic.read(partition, position, ends[partition])
            first = next(rest, None)
            if first is None:
                # Compaction has removed the last records.
                self.positions[partition] = ends[partition]
            else:
                self._rest[partition] = rest
                self._heads.append((first.timestamp, partition, first))
        heapq.heapify(self._heads)
        self._under_way = True


def decoded(raw: Record, key: Serde | None, value: Serde | None) -> Record:
    """Return a record with its key and value decoded; without a serde they stay bytes."""
    if key is None and value is None:
        return raw
    return Record(
        _deserialized("key", key, raw.key, raw),
        _deserialized("value", value, raw.value, raw),
        raw.timestamp,
        raw.headers,
        raw.topic,
        raw.partition,
        raw.offset,
    )


def _deserialized(what: str, serde: Serde | None, data: bytes | None, raw: Record) -> Any:
    if serde is None:
        return data
    try:
        return serde.deserialize(data)
    except BadBytes as error:
        raise DeserializationError(
            f"its {what} cannot be decoded: {error}",
            topic=raw.topic,
            partition=raw.partition,
            offset=raw.offset,
            key=raw.key,
            value=raw.value,
        ) from error


def positions_of(topic: AnyTopic, start: Start) -> dict[int, int]:
    """Return the offset to start from in each partition."""
    if start == "earliest":
        return dict(enumerate(topic.start_offsets()))
    if start == "latest":
        return dict(enumerate(topic.end_offsets()))
    if isinstance(start, Mapping):
        known = range(topic.partitions)
        unknown = [partition for partition in start if partition not in known]
        if unknown:
            raise TopicError(
                f"The topic {topic.name!r} has no partition {unknown[0]}: it has {topic.partitions}, "
                "numbered from 0. Start the consumer with one of these."
            )
        return dict(start)
    if isinstance(start, int | datetime) and not isinstance(start, bool):
        return dict(enumerate(topic.offsets_for_time(milliseconds(start))))
    raise TypeError(
        f"A consumer cannot start at {start!r}; use earliest, latest, a time, or offsets by partition"
    )

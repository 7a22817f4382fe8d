"""A topic in Kafka: its settings and contents, and reading and writing its records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import pyarrow as pa
from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import ConfigResource, OffsetSpec, ResourceType, TopicDescription

from brookmere.errors import AccessError
from brookmere.record import Record
from brookmere.topics.kafka.connection import Connection
from brookmere.topics.kafka.failures import Asked
from brookmere.topics.kafka.messages import read
from brookmere.topics.kafka.producer import append, check_record, records_in
from brookmere.topics.limits import check_partition
from brookmere.topics.log.append import Appended
from brookmere.topics.log.columns import content_from
from brookmere.topics.times import now_ms


@dataclass(frozen=True, slots=True)
class KafkaTopicConfig:
    """The settings of a Kafka topic, including Kafka's defaults."""

    _values: Mapping[str, str]
    _own: frozenset[str]

    def by_name(self) -> dict[str, str | int]:
        """Return the settings by name."""
        return dict(sorted(self._values.items()))

    def own(self) -> dict[str, str]:
        """Return the settings that were set on this topic."""
        return {name: self._values[name] for name in sorted(self._own)}

    @property
    def cleanup_policy(self) -> str:
        """The setting cleanup.policy: delete, compact or compact,delete."""
        return self._values.get("cleanup.policy", "")

    @property
    def compacts(self) -> bool:
        """Whether compaction eventually keeps only the last record of each key."""
        return "compact" in self.cleanup_policy


@dataclass(frozen=True, slots=True)
class KafkaPartitionInfo:
    """The contents of a partition: offsets from `start` up to but excluding `end`, and its brokers."""

    start: int
    end: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    last_timestamp: int | None

    @property
    def records(self) -> int:
        """The maximum number of records in the partition; compaction and transactions leave gaps."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class KafkaTopicInfo:
    """The contents of a topic."""

    name: str
    id: str
    partitions: list[KafkaPartitionInfo]
    config: KafkaTopicConfig

    @property
    def records(self) -> int:
        """The maximum number of records in the topic."""
        return sum(partition.records for partition in self.partitions)


class KafkaTopic:
    """A Kafka topic. Create or open one with `KafkaTopics`."""

    def __init__(self, connection: Connection, description: TopicDescription) -> None:
        self._connection = connection
        self._description = description

    @property
    def name(self) -> str:
        """The topic's name."""
        name: str = self._description.name
        return name

    @property
    def id(self) -> str:
        """The topic's id in Kafka, in the form that Kafka's tools use."""
        # Java writes it in URL-safe base64, this client in standard base64.
        return str(self._description.topic_id).replace("+", "-").replace("/", "_")

    @property
    def partitions(self) -> int:
        """The number of partitions when the topic was opened."""
        return len(self._description.partitions)

    @cached_property
    def config(self) -> KafkaTopicConfig:
        """The topic's settings."""
        resource = ConfigResource(ResourceType.TOPIC, self.name)
        what = f"The settings of the topic {self.name!r} cannot be read"
        asked = Asked(what, "DescribeConfigs", "topic", self.name)
        found = self._connection.answer(
            lambda: self._connection.admin.describe_configs([resource])[resource], asked
        )
        # 1 is the source of settings that are set on the topic itself.
        own = frozenset(name for name, entry in found.items() if entry.source == 1)
        return KafkaTopicConfig({name: entry.value or "" for name, entry in found.items()}, own)

    def __repr__(self) -> str:
        where = self._connection.brokers
        return f"KafkaTopic({self.name!r}, partitions={self.partitions}, bootstrap_servers={where!r})"

    def start_offsets(self) -> list[int]:
        """Return the first readable offset of each partition."""
        return [found for found, _ in self._offsets(OffsetSpec.earliest())]

    def end_offsets(self) -> list[int]:
        """Return, for each partition, the offset after the last record outside open transactions."""
        return [found for found, _ in self._offsets(OffsetSpec.latest())]

    def offsets_for_time(self, timestamp: int) -> list[int]:
        """Return, for each partition, the first offset whose timestamp is not lower, or its end offset."""
        found = [offset for offset, _ in self._offsets(OffsetSpec.for_timestamp(timestamp))]
        ends = self.end_offsets()
        return [end if offset < 0 else offset for offset, end in zip(found, ends, strict=True)]

    def append(self, records: Iterable[Record]) -> Appended:
        """Append records and return their offsets; when it returns, they are in the topic.

        Keys and values are bytes or None. A record goes to the partition it names, or to its key's;
        records without a key are distributed. A timestamp of -1 means now. Not atomic: records appended
        before a failure stay.
        """
        return append(self._connection, self, records)

    def append_batch(self, partition: int | None, data: pa.RecordBatch | pa.Table) -> Appended:
        """Append columns named timestamp, key, value and headers; only value is required."""
        if partition is not None:
            check_partition(self, partition)
        batches = data.to_batches() if isinstance(data, pa.Table) else [data]
        contents = (content_from(batch, now_ms()) for batch in batches)
        return self.append(record for content in contents for record in records_in(content, partition))

    def read(self, partition: int, start: int | None = None, end: int | None = None) -> Iterator[Record]:
        """Read the current committed records of a partition, from `start` up to but excluding `end`."""
        check_partition(self, partition)
        return read(self._connection, self, partition, start, end)

    def record(self, partition: int, offset: int) -> Record | None:
        """Return the record at an offset, or None if there is none, for example after compaction."""
        check_partition(self, partition)
        if not self.start_offsets()[partition] <= offset < self.end_offsets()[partition]:
            return None
        return next(self.read(partition, offset, offset + 1), None)

    def check(self, record: Record) -> None:
        """Raise the error that appending this record, with bytes or None as key and value, would raise."""
        check_record(self, record)

    def describe(self) -> KafkaTopicInfo:
        """Describe the contents of the topic."""
        starts, ends = self.start_offsets(), self.end_offsets()
        last = [time if time >= 0 else None for _, time in self._offsets(OffsetSpec.max_timestamp())]
        partitions = [
            KafkaPartitionInfo(
                start=starts[number],
                end=ends[number],
                leader=part.leader.id if part.leader else None,
                replicas=tuple(node.id for node in part.replicas),
                in_sync=tuple(node.id for node in part.isr),
                last_timestamp=last[number],
            )
            for number, part in enumerate(self._description.partitions)
        ]
        return KafkaTopicInfo(self.name, self.id, partitions, self._visible_config())

    def _visible_config(self) -> KafkaTopicConfig:
        try:
            return self.config
        except AccessError:
            # Users who may read a topic are not always allowed to see its settings.
            return KafkaTopicConfig({}, frozenset())

    def _offsets(self, of: OffsetSpec) -> list[tuple[int, int]]:
        """Return an offset of each partition, and its record's timestamp if Kafka returns one."""
        asked = Asked(
            f"The offsets of the topic {self.name!r} cannot be read", "Describe", "topic", self.name
        )
        places = [TopicPartition(self.name, number) for number in range(self.partitions)]
        committed = IsolationLevel.READ_COMMITTED

        def ask(wanted: list[TopicPartition]) -> dict[TopicPartition, Any]:
            futures = self._connection.admin.list_offsets(
                dict.fromkeys(wanted, of), isolation_level=committed
            )
            return dict(futures)

        asking = ask(places)

        def again(place: TopicPartition) -> Any:
            return asking.pop(place, None) or ask([place])[place]

        found = [self._connection.answer(partial(again, place), asked) for place in places]
        return [(each.offset, each.timestamp) for each in found]

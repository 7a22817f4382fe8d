"""A broker for the benchmarks: fills topics, reveals records at once, and reads results."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from benchmarks.failures import QueryFailedError
from benchmarks.kafka.workloads import PARTITIONS

_PATIENCE = 60.0
_TRANSACTION_MS = 600_000
_AT_ONCE = 20_000
_LEADERLESS = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART)
_BUSY = {
    "log_level": 2,
    "compression.type": "lz4",
    "linger.ms": 50,
    "batch.size": 1 << 20,
    "batch.num.messages": 100_000,
    "queue.buffering.max.messages": 2_000_000,
    "queue.buffering.max.kbytes": 1 << 20,
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A broker used only by the benchmark."""

    servers: str
    admin: AdminClient

    @classmethod
    def at(cls, servers: str) -> Cluster:
        """Return the broker at this address."""
        return cls(servers, AdminClient({"bootstrap.servers": servers, "log_level": 2}))

    def create(self, *names: str) -> None:
        """Create topics with unlimited retention."""
        new = [NewTopic(name, PARTITIONS, 1, config={"retention.ms": "-1"}) for name in names]
        for future in self.admin.create_topics(new).values():
            future.result(_PATIENCE)

    def delete(self, *names: str) -> None:
        """Delete topics, to free their disk space."""
        for future in self.admin.delete_topics(list(names)).values():
            future.result(_PATIENCE)

    def internal(self, application: str) -> list[str]:
        """Return the topics that an application has created for itself."""
        known = self.admin.list_topics(timeout=_PATIENCE).topics
        return [name for name in known if name.startswith(f"{application}-")]

    def ends(self, topic: str) -> list[int]:
        """Return the offset of each partition up to which a reader of committed records can read."""
        wanted = {TopicPartition(topic, number): OffsetSpec.latest() for number in range(PARTITIONS)}
        deadline = time.monotonic() + _PATIENCE
        while True:
            found = self.admin.list_offsets(wanted, isolation_level=IsolationLevel.READ_COMMITTED)
            try:
                ends = {place.partition: future.result(_PATIENCE).offset for place, future in found.items()}
                return [ends[number] for number in range(PARTITIONS)]
            except KafkaException as error:
                # The leaders of a new topic are not known everywhere at once.
                if not _is_passing(error.args[0]) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def rows(self, topic: str, rows: Iterable[tuple[bytes, bytes]], time_ms: int) -> None:
        """Write the rows of a table."""
        producer = Producer({"bootstrap.servers": self.servers, "partitioner": "murmur2_random", **_BUSY})
        for key, value in rows:
            producer.produce(topic, value, key, timestamp=time_ms)
        if producer.flush(_PATIENCE) > 0:
            raise QueryFailedError(f"The rows of {topic} were not accepted within {_PATIENCE:.0f} s.")

    def messages(self, topic: str) -> Iterator[Message]:
        """Yield all committed records of a topic, those of a partition in order."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": "check",
                "log_level": 2,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "fetch.queue.backoff.ms": 10,
            }
        )
        try:
            consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
            ended: set[int] = set()
            deadline = time.monotonic() + _PATIENCE
            while len(ended) < PARTITIONS:
                for message in consumer.consume(_AT_ONCE, 0.1):
                    error = message.error()
                    if error is None:
                        yield message
                    elif error.code() == KafkaError._PARTITION_EOF:
                        ended.add(message.partition())
                    else:
                        raise QueryFailedError(f"{topic} cannot be read: {error}")
                if time.monotonic() > deadline:
                    raise QueryFailedError(f"{topic} was not read within {_PATIENCE:.0f} s.")
        finally:
            consumer.close()


def _is_passing(error: KafkaError) -> bool:
    return error.retriable() or error.code() in _LEADERLESS


class Gate:
    """Writes records to a topic that nobody can read until they are revealed all at once.

    They belong to one open transaction. Readers of committed records see none of them; the commit costs the
    broker a few milliseconds, and reveals all of them.
    """

    def __init__(self, cluster: Cluster, topic: str) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                "bootstrap.servers": cluster.servers,
                "transactional.id": f"gate-{topic}",
                "transaction.timeout.ms": _TRANSACTION_MS,
                **_BUSY,
            }
        )
        self._producer.init_transactions(_PATIENCE)

    def fill(self, records: Iterable[tuple[bytes | None, bytes, int, int]]) -> None:
        """Write records of key, value, time and partition, and wait until the broker has them."""
        producer, topic = self._producer, self._topic
        producer.begin_transaction()
        for key, value, time_ms, partition in records:
            while True:
                try:
                    producer.produce(topic, value, key, partition, timestamp=time_ms)
                    break
                except BufferError:
                    producer.poll(0.1)
        if producer.flush(_PATIENCE) > 0:
            raise QueryFailedError(f"The records of {topic} were not accepted within {_PATIENCE:.0f} s.")

    def show(self) -> None:
        """Make the written records visible."""
        self._producer.commit_transaction(_PATIENCE)

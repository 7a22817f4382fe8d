"""Reading a range of offsets of a Kafka partition as records."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from brookmere.errors import DataLossError, TopicError
from brookmere.record import Record
from brookmere.topics.kafka.failures import Asked

if TYPE_CHECKING:
    from brookmere.topics.kafka.connection import Connection
    from brookmere.topics.kafka.topic import KafkaTopic

_AT_ONCE = 10_000
_WAIT_SECONDS = 0.2
# The client recovers from these by itself. It also queries the group, which it does not use.
_PASSING = (
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TIMED_OUT,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
)


def read(
    connection: Connection, topic: KafkaTopic, partition: int, start: int | None, end: int | None
) -> Iterator[Record]:
    """Read the current records of a partition from offset `start` up to but excluding `end`."""
    first, last = topic.start_offsets()[partition], topic.end_offsets()[partition]
    at = first if start is None else start
    if not first <= at <= last:
        raise lost(topic.name, partition, at, f"it has the offsets {first} to before {last}")
    stop = last if end is None else min(end, last)
    return _records(connection, topic.name, partition, at, stop)


def _records(connection: Connection, topic: str, partition: int, at: int, stop: int) -> Iterator[Record]:
    if at >= stop:
        return
    asked = asked_to_read(topic)
    client = connection.reader()
    try:
        client.assign([TopicPartition(topic, partition, at)])
        heard = time.monotonic()
        while True:
            messages = fetched(client, _WAIT_SECONDS)
            for message in messages:
                if is_end(message, connection, asked):
                    return
                if message.error() is not None:
                    continue
                if message.offset() >= stop:
                    return
                yield record_of(message)
                if message.offset() + 1 >= stop:
                    return
            if messages:
                heard = time.monotonic()
            connection.check(asked, heard)
    finally:
        client.close()


def asked_to_read(topic: str) -> Asked:
    """Return the request of reading a topic, for errors."""
    return Asked(f"The topic {topic!r} cannot be read", "Read", "topic", topic)


def fetched(client: Consumer, wait: float, most: int = _AT_ONCE) -> list[Message]:
    """Return the available messages as soon as there are any, or none after `wait` seconds."""
    first = client.poll(wait)
    if first is None:
        return []
    return [first, *client.consume(most, 0)] if most > 1 else [first]


def is_end(message: Message, connection: Connection, asked: Asked) -> bool:
    """Return whether a message marks the end of its partition; raise the error that it carries, if any."""
    error = message.error()
    if error is None or error.code() in _PASSING:
        return False
    if error.code() == KafkaError._PARTITION_EOF:
        return True
    if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
        raise lost(message.topic(), message.partition(), message.offset(), error.str())
    failure: TopicError = connection.failure(error, asked)
    raise failure


def record_of(message: Message) -> Record:
    """Return a message as a record."""
    return Record(
        message.key(),
        message.value(),
        message.timestamp()[1],
        tuple(message.headers() or ()),
        message.topic(),
        message.partition(),
        message.offset(),
    )


def lost(topic: str, partition: int, at: int, found: str) -> DataLossError:
    """Return the error for an offset that a partition does not have."""
    return DataLossError(
        f"Partition {partition} of the topic {topic!r} cannot be read from offset {at}: {found}. Read from "
        "an existing offset; if this one existed before, retention has deleted it, or the topic was "
        "recreated."
    )

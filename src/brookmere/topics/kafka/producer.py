"""Appending records to a Kafka topic, and waiting until the brokers have them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Message

from brookmere.errors import TopicError
from brookmere.record import Record
from brookmere.topics.kafka.failures import Asked
from brookmere.topics.limits import check_partition
from brookmere.topics.log.append import Appended

if TYPE_CHECKING:
    from brookmere.topics.kafka.connection import Connection
    from brookmere.topics.kafka.topic import KafkaTopic

_WAIT_SECONDS = 0.2
_ANY_PARTITION = -1


class _Delivery:
    """The results of the messages of one append."""

    def __init__(self) -> None:
        self.offsets: dict[int, range] = {}
        self.error: KafkaError | None = None

    def report(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.error = self.error or error
            return
        partition, offset = message.partition(), message.offset()
        known = self.offsets.get(partition, range(offset, offset))
        self.offsets[partition] = range(min(known.start, offset), max(known.stop, offset + 1))


def append(connection: Connection, topic: KafkaTopic, records: Iterable[Record]) -> Appended:
    """Write records and wait until the brokers have them."""
    asked = Asked(f"Records cannot be appended to the topic {topic.name!r}", "Write", "topic", topic.name)
    writer = connection.writer()
    delivery = _Delivery()
    try:
        for record in records:
            check_record(topic, record)
            _send(writer, topic.name, record, delivery, connection, asked)
            if delivery.error is not None:
                break
        began = time.monotonic()
        waiting = len(writer)
        while writer.flush(_WAIT_SECONDS):
            if len(writer) < waiting:
                began, waiting = time.monotonic(), len(writer)
            connection.check(asked, began)
    except KafkaException as error:
        connection.forget_writer()
        raise connection.failure(error.args[0], asked) from error
    except BaseException:
        # Messages still in flight must not appear later, after they were reported as failed.
        writer.purge()
        connection.forget_writer()
        raise
    if delivery.error is not None:
        if delivery.error.fatal():
            connection.forget_writer()
        raise connection.failure(delivery.error, asked)
    return Appended(delivery.offsets)


def _send(
    writer: Any, topic: str, record: Record, delivery: _Delivery, connection: Connection, asked: Asked
) -> None:
    options: dict[str, Any] = {}
    if record.timestamp is not None and record.timestamp != -1:
        options["timestamp"] = record.timestamp
    began = time.monotonic()
    while True:
        try:
            writer.produce(
                topic,
                value=record.value,
                key=record.key,
                partition=_ANY_PARTITION if record.partition is None else record.partition,
                headers=list(record.headers) or None,
                on_delivery=delivery.report,
                **options,
            )
        except BufferError:
            # The client's own queue is full: let it send.
            writer.poll(_WAIT_SECONDS)
            connection.check(asked, began)
        except KafkaException as error:
            raise connection.failure(error.args[0], asked) from error
        else:
            writer.poll(0)
            return


def check_record(topic: KafkaTopic, record: Record) -> None:
    """Refuse a record with an invalid type, timestamp or partition."""
    for what, data in (("key", record.key), ("value", record.value)):
        if data is not None and not isinstance(data, bytes):
            raise TypeError(
                f"A topic takes the {what} of a record as bytes, found {type(data).__name__} {data!r:.80}; "
                f"use a producer with a serde, as in topics.producer(name, {what}=bm.Text())"
            )
    if record.timestamp is not None and record.timestamp < -1:
        raise ValueError(
            f"A timestamp cannot be negative, found {record.timestamp}; use milliseconds since 1970 (UTC), "
            "or -1 for the current time"
        )
    if record.timestamp == 0:
        raise TopicError(
            f"A record cannot be written to the topic {topic.name!r} of Kafka from Python with the timestamp "
            "0: Kafka's Python client would replace it with the current time. Use 1, or a later time."
        )
    if record.partition is not None:
        check_partition(topic, record.partition)


def records_in(content: pa.RecordBatch, partition: int | None) -> Iterator[Record]:
    """Return the rows of binary columns as records for a partition, or for the partition of their key."""
    times, keys, values, headers = (column.to_pylist() for column in _plain(content).columns)
    for time_of, key, value, pairs in zip(times, keys, values, headers, strict=True):
        named = tuple((pair["key"], pair["value"]) for pair in pairs or ())
        yield Record(key, value, time_of, named, partition=partition)


def _plain(content: pa.RecordBatch) -> pa.RecordBatch:
    numbers = content.column("timestamp").cast(pa.int64())
    return content.set_column(content.schema.get_field_index("timestamp"), "timestamp", numbers)

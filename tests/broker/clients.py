"""Write and read a few records on a Kafka, as any program would."""

from __future__ import annotations

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

_DEADLINE = 60.0


def create(servers: str, topic: str, **settings: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers, **settings})
    admin.create_topics([NewTopic(topic, 1)])[topic].result(_DEADLINE)


def produce(servers: str, topic: str, *values: bytes, timestamp: int = 0, **settings: str) -> None:
    producer = Producer({"bootstrap.servers": servers, "acks": "all", **settings})
    failures: list[object] = []
    for value in values:
        producer.produce(
            topic, value, timestamp=timestamp, on_delivery=lambda error, _: failures.append(error)
        )
    assert producer.flush(_DEADLINE) == 0
    assert failures == [None] * len(values)


def consume(servers: str, topic: str, count: int, **settings: str) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "test", **settings})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        return [record.value() for record in consumer.consume(count, timeout=_DEADLINE)]
    finally:
        consumer.close()

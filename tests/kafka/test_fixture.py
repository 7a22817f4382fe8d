"""The broker of the test run takes records and gives them back."""

from __future__ import annotations

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from brookmere.broker import Broker


def test_broker_takes_a_record_and_gives_it_back(kafka: Broker) -> None:
    settings = {"bootstrap.servers": kafka.bootstrap_servers}
    admin = AdminClient(settings)
    for future in admin.create_topics([NewTopic("fixture-check", 1)]).values():
        future.result(30)

    producer = Producer(settings)
    producer.produce("fixture-check", b"value", b"key", timestamp=1_000)
    assert producer.flush(30) == 0

    consumer = Consumer({**settings, "group.id": "fixture-check", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition("fixture-check", 0, 0)])
    (record,) = consumer.consume(1, timeout=30)
    consumer.close()
    assert (record.key(), record.value(), record.timestamp()[1]) == (b"key", b"value", 1_000)

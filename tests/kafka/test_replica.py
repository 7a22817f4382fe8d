"""Replicas of topics of a real Kafka: committed records only, and topics that grow or are created anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions

import brookmere as bm
from brookmere.broker import Broker
from brookmere.state import Replica, StoreInfo
from brookmere.state.replica import tail
from brookmere.topics.kafka import KafkaTopics
from tests.state.worlds import DEADLINE, until

Name = Callable[[str], str]


@pytest.fixture
def topics(kafka: Broker) -> KafkaTopics:
    return KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers})


@pytest.fixture
def producer(kafka: Broker, name: Name) -> Iterator[Producer]:
    options = {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": name("tx")}
    made = Producer(options)
    made.init_transactions(DEADLINE)
    yield made
    made.flush(DEADLINE)


def replica_of(topics: KafkaTopics, topic: str, directory: Path | None = None) -> Replica:
    info = StoreInfo("totals", "key_value", topic, bm.Text(), bm.Long())
    return Replica("site", [info], topics, directory, in_memory=directory is None)


def produce(
    producer: Producer, topics: KafkaTopics, topic: str, rows: dict[str, int | None], *, commit: bool
) -> None:
    [end] = topics[topic].end_offsets()
    producer.begin_transaction()
    for key, value in rows.items():
        producer.produce(topic, bm.Long().serialize(value), bm.Text().serialize(key), partition=0)
    producer.flush(DEADLINE)
    if commit:
        producer.commit_transaction(DEADLINE)
    else:
        producer.abort_transaction(DEADLINE)
    # Kafka writes the marker that ends a transaction after it has confirmed the end.
    until(lambda: topics[topic].end_offsets() == [end + len(rows) + 1], "the end of the transaction")


def rows(replica: Replica) -> dict[str, int]:
    store: Any = replica["totals"]
    return dict(store.all())


def level(replica: Replica, topics: KafkaTopics) -> None:
    topic = replica.infos["totals"].topic
    ends = dict(enumerate(topics[topic].end_offsets()))
    replica["totals"].at_least({topic: ends}, timedelta(seconds=DEADLINE)).wait(timedelta(seconds=DEADLINE))


def test_only_what_is_committed_is_in_the_rows(
    topics: KafkaTopics, producer: Producer, name: Name, tmp_path: Path
) -> None:
    topic = name("totals")
    topics.create(topic, 1, {"cleanup.policy": "compact"})
    produce(producer, topics, topic, {"ada": 1, "bob": 2}, commit=True)
    produce(producer, topics, topic, {"ada": 99, "eve": 99}, commit=False)

    with replica_of(topics, topic, tmp_path) as replica:
        level(replica, topics)
        assert rows(replica) == {"ada": 1, "bob": 2}
        # Behind the last record are the ends of two transactions.
        until(lambda: replica["totals"].lag() == 0, "a lag of 0 behind the ends of transactions")

        produce(producer, topics, topic, {"cyd": 3, "bob": None}, commit=True)
        level(replica, topics)
        assert rows(replica) == {"ada": 1, "cyd": 3}
        position = replica["totals"].position()

    produce(producer, topics, topic, {"dan": 4}, commit=True)
    with replica_of(topics, topic, tmp_path) as replica:
        level(replica, topics)
        assert rows(replica) == {"ada": 1, "cyd": 3, "dan": 4}
        assert replica["totals"].position().covers(position)


def test_records_of_an_open_transaction_are_not_waited_for(
    topics: KafkaTopics, producer: Producer, name: Name
) -> None:
    topic = name("totals")
    topics.create(topic, 1, {"cleanup.policy": "compact"})
    produce(producer, topics, topic, {"ada": 1}, commit=True)
    producer.begin_transaction()
    producer.produce(topic, bm.Long().serialize(2), b"ada", partition=0)
    producer.flush(DEADLINE)

    with replica_of(topics, topic) as replica:
        level(replica, topics)
        assert rows(replica) == {"ada": 1}

        producer.commit_transaction(DEADLINE)
        until(lambda: rows(replica) == {"ada": 2}, "the committed row")


def test_a_topic_that_grows_is_read_with_all_its_partitions(
    kafka: Broker, topics: KafkaTopics, name: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "_GROWTH_SECONDS", 0.5)
    topic = name("totals")
    topics.create(topic, 1, {"cleanup.policy": "compact"})
    with topics.producer(topic, key=bm.Text(), value=bm.Long()) as sending:
        for number in range(20):
            sending.send(f"k{number}", number)

    with replica_of(topics, topic) as replica:
        level(replica, topics)
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
        for future in admin.create_partitions([NewPartitions(topic, 3)]).values():
            future.result(DEADLINE)
        until(lambda: topics[topic].partitions == 3, "three partitions")
        with topics.producer(topic, key=bm.Text(), value=bm.Long()) as sending:
            for number in range(20):
                sending.send(f"new{number}", number)

        until(lambda: len(replica["totals"].position()[topic]) == 3, "a position in three partitions")
        level(replica, topics)
        assert rows(replica) == {f"{kind}{n}": n for kind in ("k", "new") for n in range(20)}


def test_a_topic_created_anew_is_followed_from_its_beginning(
    topics: KafkaTopics, name: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "_GROWTH_SECONDS", 0.5)
    topic = name("totals")

    def filled(rows: dict[str, int]) -> None:
        topics.create(topic, 1, {"cleanup.policy": "compact"})
        with topics.producer(topic, key=bm.Text(), value=bm.Long()) as sending:
            for key, value in rows.items():
                sending.send(key, value)

    filled({"ada": 1, "bob": 2})
    with replica_of(topics, topic) as replica:
        level(replica, topics)
        topics.delete(topic)
        until(lambda: topic not in topics.names(), "a deleted topic")
        filled({"cyd": 3, "dan": 4, "eve": 5})

        until(lambda: replica["totals"].is_ready and rows(replica).get("eve") == 5, "the new rows")
        assert rows(replica) == {"cyd": 3, "dan": 4, "eve": 5}

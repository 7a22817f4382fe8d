"""The topics of a real Kafka are found, created, described and deleted as embedded ones are."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from brookmere.broker import Broker
from brookmere.config import read
from brookmere.errors import TopicError, TopicExistsError, UnknownTopicError, UnreachableError
from brookmere.record import Record
from brookmere.topics import open_topics
from brookmere.topics.kafka import KafkaTopics


@pytest.fixture(scope="module")
def topics(kafka: Broker) -> KafkaTopics:
    return KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers})


Name = Callable[[str], str]


def test_settings_open_topics_of_kafka(kafka: Broker, name: Name) -> None:
    opened = open_topics(read({"bootstrap.servers": kafka.bootstrap_servers, "replication.factor": 1}))

    opened.create(name("opened"))

    assert isinstance(opened, KafkaTopics)
    assert name("opened") in opened
    assert name("opened") in opened.names()
    assert not [each for each in opened if each.startswith("__")]


def test_topic_is_created_with_partitions_and_settings(topics: KafkaTopics, name: Name) -> None:
    topics.create(name("t"), 3, {"cleanup.policy": "compact", "retention.ms": timedelta(seconds=5)})

    topic = topics[name("t")]
    assert (topic.name, topic.partitions) == (name("t"), 3)
    assert topic.config.own() == {"cleanup.policy": "compact", "retention.ms": "5000"}
    assert topic.config.compacts
    assert topic.config.by_name()["max.message.bytes"] == "1048588"


def test_id_tells_a_topic_from_its_successor(topics: KafkaTopics, name: Name) -> None:
    first = topics.create(name("t")).id
    topics.delete(name("t"))
    second = topics.create(name("t")).id

    assert first != second
    assert topics[name("t")].id == second
    assert len(second) == 22
    assert not set(second) & set("+/=")


def test_existing_topic_is_refused_or_returned(topics: KafkaTopics, name: Name) -> None:
    topics.create(name("t"), 2)

    assert topics.create(name("t"), 5, exist_ok=True).partitions == 2
    with pytest.raises(TopicExistsError) as caught:
        topics.create(name("t"))
    assert f"`brookmere topics delete {name('t')} --bootstrap-server {topics.bootstrap_servers}`" in str(
        caught.value
    )


def test_unknown_topic_is_told_with_the_nearest_and_the_command(topics: KafkaTopics, name: Name) -> None:
    topics.create(name("orders"))
    wrong = name("ordres")

    for act in (topics.__getitem__, topics.delete, topics.producer, topics.consumer):
        with pytest.raises(UnknownTopicError) as caught:
            act(wrong)

        assert str(caught.value) == (
            f"There is no topic {wrong!r} at {topics.bootstrap_servers}. Did you mean {name('orders')!r}? "
            f"`brookmere topics create {wrong} --bootstrap-server {topics.bootstrap_servers}` creates it; "
            f"`brookmere topics list --bootstrap-server {topics.bootstrap_servers}` lists the existing "
            "topics."
        )
    assert wrong not in topics


@pytest.mark.parametrize(
    ("partitions", "config", "replication", "words"),
    [
        (0, {}, None, "with 0 partitions: it needs at least 1"),
        (
            1,
            {"cleanup.polcy": "compact"},
            None,
            "Unknown topic config name: cleanup.polcy. Correct the setting",
        ),
        (1, {}, 3, "Set replication.factor (--replication-factor) to at most the number of brokers"),
    ],
)
def test_what_kafka_refuses_to_create_is_told(
    topics: KafkaTopics,
    name: Name,
    partitions: int,
    config: dict[str, object],
    replication: int | None,
    words: str,
) -> None:
    with pytest.raises(TopicError) as caught:
        topics.create(name("t"), partitions, config, replication=replication)

    assert str(caught.value).startswith(f"The topic {name('t')!r} cannot be created")
    assert words in str(caught.value)


def test_illegal_name_is_refused_as_embedded_topics_refuse_it(topics: KafkaTopics) -> None:
    with pytest.raises(TopicError, match="'a b' is not a valid topic name"):
        topics.create("a b")
    assert "a b" not in topics


def test_description_tells_offsets_brokers_and_the_last_time(topics: KafkaTopics, name: Name) -> None:
    topic = topics.create(name("t"), 2, {"retention.ms": -1})
    topic.append([Record(b"k", b"v", 7, partition=1), Record(b"k", b"w", 5, partition=1)])

    info = topic.describe()

    assert (info.name, info.id, info.records) == (name("t"), topic.id, 2)
    empty, full = info.partitions
    assert (empty.start, empty.end, empty.last_timestamp) == (0, 0, None)
    assert (full.start, full.end, full.last_timestamp, full.records) == (0, 2, 7, 2)
    assert (full.leader, full.replicas, full.in_sync) == (1, (1,), (1,))


def test_broker_that_does_not_answer_is_told_with_its_address_and_the_time() -> None:
    topics = KafkaTopics({"bootstrap.servers": "127.0.0.1:1", "default.api.timeout.ms": "600"})

    with pytest.raises(UnreachableError) as caught:
        topics.names()

    text = str(caught.value)
    assert text.startswith(
        "The topics of Kafka cannot be listed: no broker of bootstrap.servers=127.0.0.1:1 answered "
        "within 1 seconds."
    )
    assert "Connection refused" in text
    assert "`brookmere kafka up` starts one" in text
    with pytest.raises(UnreachableError, match="The topic 'orders' cannot be opened: no broker of"):
        topics["orders"]

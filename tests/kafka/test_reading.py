"""Records that are written to a real Kafka are read again as they were, from where one wants."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from confluent_kafka import Producer

import brookmere as bm
from brookmere.broker import Broker
from brookmere.errors import DataLossError, DeserializationError, TopicError
from brookmere.record import Record
from brookmere.serde.partition import partition_for
from brookmere.topics.kafka import KafkaTopic, KafkaTopics

Name = Callable[[str], str]


@pytest.fixture(scope="module")
def topics(kafka: Broker) -> KafkaTopics:
    return KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers})


@pytest.fixture
def topic(topics: KafkaTopics, name: Name) -> KafkaTopic:
    return topics.create(name("t"), 3, {"retention.ms": -1})


def test_records_come_back_with_times_headers_and_nulls(topic: KafkaTopic) -> None:
    headers = (("a", b"1"), ("b", None), ("a", b"2"))

    appended = topic.append([Record(b"k", None, 1, headers, partition=2), Record(None, b"", 2, partition=2)])

    assert appended.offsets == {2: range(2)}
    assert list(topic.read(2)) == [
        Record(b"k", None, 1, headers, topic.name, 2, 0),
        Record(None, b"", 2, (), topic.name, 2, 1),
    ]
    assert list(topic.read(0)) == []


def test_keys_go_to_the_partitions_that_kafka_gives_them(topic: KafkaTopic) -> None:
    keys = [b"", *(b"key-%d" % number for number in range(50))]

    topic.append(Record(key, b"v", 1) for key in keys)

    for partition in range(3):
        expected = [key for key in keys if partition_for(key, 3) == partition]
        assert [record.key for record in topic.read(partition)] == expected


def test_records_without_a_time_get_the_present_one(topic: KafkaTopic) -> None:
    before = datetime.now(UTC).timestamp() * 1000 - 1

    topic.append([Record(None, b"v", -1, partition=0)])

    assert next(topic.read(0)).timestamp >= before


def test_columns_are_appended(topic: KafkaTopic) -> None:
    data = pa.RecordBatch.from_pydict({"key": [b"a", None], "value": [b"1", b"2"], "timestamp": [4, 5]})

    topic.append_batch(1, data)

    assert [(r.key, r.value, r.timestamp) for r in topic.read(1)] == [(b"a", b"1", 4), (None, b"2", 5)]


def test_a_part_of_a_partition_is_read(topic: KafkaTopic) -> None:
    topic.append(Record(None, b"%d" % number, number + 1, partition=0) for number in range(10))

    assert [record.value for record in topic.read(0, 3, 6)] == [b"3", b"4", b"5"]
    assert [record.value for record in topic.read(0, 8, 99)] == [b"8", b"9"]
    assert list(topic.read(0, 10)) == []
    record = topic.record(0, 4)
    assert record is not None
    assert (record.value, record.offset) == (b"4", 4)
    assert topic.record(0, 10) is None


def test_offsets_are_found_by_time(topic: KafkaTopic) -> None:
    topic.append(Record(None, b"v", time, partition=0) for time in (10, 20, 30))

    assert topic.start_offsets() == [0, 0, 0]
    assert topic.end_offsets() == [3, 0, 0]
    assert [topic.offsets_for_time(time)[0] for time in (1, 20, 21, 31)] == [0, 1, 2, 3]


def test_only_committed_records_are_read(topic: KafkaTopic, kafka: Broker, name: Name) -> None:
    options = {"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": name("tx")}
    producer = Producer(options)
    producer.init_transactions()
    for value, ends in ((b"aborted", "abort"), (b"committed", "commit"), (b"open", "")):
        producer.begin_transaction()
        producer.produce(topic.name, value, partition=0, timestamp=1)
        producer.flush()
        if ends:
            getattr(producer, f"{ends}_transaction")()

    # Each end of a transaction takes an offset as well.
    assert topic.end_offsets()[0] == 4
    assert [(record.value, record.offset) for record in topic.read(0)] == [(b"committed", 2)]
    assert topic.record(0, 0) is None
    producer.abort_transaction()


@pytest.mark.parametrize("start", [-1, 4])
def test_offset_that_is_not_there_is_refused(topic: KafkaTopic, start: int) -> None:
    topic.append(Record(None, b"v", 1, partition=0) for _ in range(3))

    with pytest.raises(DataLossError) as caught:
        topic.read(0, start)

    assert str(caught.value).startswith(
        f"Partition 0 of the topic {topic.name!r} cannot be read from offset {start}: "
        "it has the offsets 0 to before 3."
    )


@pytest.mark.parametrize(
    ("record", "kind", "words"),
    [
        (Record(None, b"v", 1, partition=3), TopicError, "has no partition 3: it has 3, numbered from 0"),
        (Record(None, "v", 1), TypeError, "takes the value of a record as bytes, found str 'v'"),
        (Record(None, b"v", -2), ValueError, "A timestamp cannot be negative, found -2"),
        (Record(None, b"v", 0), TopicError, "with the timestamp 0: Kafka's Python client would"),
        (Record(None, bytes(2_000_000), 1), TopicError, "raise max.message.bytes of the topic"),
    ],
)
def test_record_that_cannot_be_written_is_refused(
    topic: KafkaTopic, record: Record, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        topic.append([record])

    assert words in str(caught.value)
    assert topic.end_offsets() == [0, 0, 0]
    topic.append([Record(None, b"fine", 1)])


def test_producer_and_consumer_use_serdes(topics: KafkaTopics, topic: KafkaTopic) -> None:
    with topics.producer(topic.name, key=bm.Text(), value=bm.Long()) as producer:
        for number in range(5):
            producer.send(f"k{number}", number, timestamp=10 + number, headers={"n": b"x"})

    with topics.consumer(topic.name, key=bm.Text(), value=bm.Long()) as consumer:
        found = list(consumer)

    assert [(record.key, record.value) for record in found] == [(f"k{n}", n) for n in range(5)]
    assert all(record.headers == (("n", b"x"),) for record in found)


def test_consumer_begins_where_it_is_told(topics: KafkaTopics, topic: KafkaTopic) -> None:
    topic.append(Record(None, b"%d" % n, n + 1, partition=n % 2) for n in range(6))

    def values(start: object) -> list[bytes]:
        with topics.consumer(topic.name, start=start) as consumer:  # type: ignore[arg-type]
            return [record.value for record in consumer]

    assert values("earliest") == [b"0", b"1", b"2", b"3", b"4", b"5"]
    assert values("latest") == []
    assert values({1: 1}) == [b"3", b"5"]
    assert values(4) == [b"3", b"4", b"5"]


def test_consumer_waits_for_more(topics: KafkaTopics, topic: KafkaTopic) -> None:
    topic.append([Record(None, b"old", 1, partition=0)])

    with topics.consumer(topic.name, start="latest", follow=True) as consumer:
        assert consumer.poll("0.1s") == []
        topic.append([Record(None, b"new", 2, partition=2)])
        (record,) = consumer.poll("20s")
        assert (record.value, record.partition) == (b"new", 2)
        topic.append([Record(None, b"newer", 2, partition=1)])
        assert next(iter(consumer)).value == b"newer"
    assert consumer.positions == {0: 1, 1: 1, 2: 1}


def test_consumer_goes_on_behind_a_record_that_does_not_decode(
    topics: KafkaTopics, topic: KafkaTopic
) -> None:
    topic.append([Record(None, b"odd", 1, partition=0), Record(None, bytes(8), 2, partition=0)])

    with topics.consumer(topic.name, value=bm.Long()) as consumer:
        with pytest.raises(DeserializationError) as caught:
            next(consumer)
        assert next(consumer).value == 0

    assert (caught.value.topic, caught.value.offset) == (topic.name, 0)


def test_a_partition_that_is_far_ahead_waits_for_the_others(topics: KafkaTopics, topic: KafkaTopic) -> None:
    topic.append(Record(None, b"%d" % n, 1000 + n, partition=0) for n in range(30_000))
    topic.append(Record(None, b"%d" % n, 1 + n, partition=1) for n in range(100))

    with topics.consumer(topic.name) as consumer:
        found = list(consumer)

    assert len(found) == 30_100
    assert [record.partition for record in found[:100]] == [1] * 100
    assert [record.offset for record in found[100:]] == list(range(30_000))

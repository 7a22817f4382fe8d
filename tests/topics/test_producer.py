"""A producer batches records, keeps their order, and reports failures."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from brookmere.errors import TopicError, UnknownTopicError
from brookmere.serde import Json, Long, Text
from brookmere.topics import Topics
from tests.topics.conftest import Start


def test_what_is_sent_is_in_the_topic_after_the_flush(topics: Topics) -> None:
    topics.create("t", 2)
    with topics.producer("t", key=Text(), value=Json("n bigint")) as producer:
        for number in range(1000):
            producer.send(f"k{number % 7}", {"n": number}, timestamp=number)
        producer.flush()
        seen = topics["t"].describe().records
        producer.send("k0", None)

    values = [record.value for record in topics.consumer("t", value=Json("n bigint"))]

    assert seen == 1000
    assert values == [*({"n": number} for number in range(1000)), None]


def test_a_producer_returns_the_position_after_its_last_record(topics: Topics) -> None:
    topics.create("t", 2)
    producer = topics.producer("t")
    before = producer.position

    for partition in (1, 1, 0):
        producer.send(b"k", b"v", partition=partition)
    producer.close()

    assert before == {"t": {}}
    assert producer.position == {"t": {0: 1, 1: 2}}


def test_records_go_in_few_appends(topics: Topics) -> None:
    topic = topics.create("t")

    with topics.producer("t", value=Long(), linger=timedelta(minutes=10)) as producer:
        for number in range(10_000):
            producer.send(value=number)

    assert topic.describe().partitions[0].segments == 1


def test_a_lingering_producer_sends_without_another_call(topics: Topics) -> None:
    topic = topics.create("t")
    producer = topics.producer("t", linger="10ms")
    producer.send(b"k", b"v")

    deadline = time.monotonic() + 30
    while topic.end_offsets() == [0] and time.monotonic() < deadline:
        time.sleep(0.001)

    assert topic.end_offsets() == [1]
    producer.close()


def test_time_headers_and_partition_can_be_given(topics: Topics) -> None:
    topic = topics.create("t", 3)
    before = time.time_ns() // 1_000_000

    with topics.producer("t") as producer:
        producer.send(b"k", b"1", timestamp=datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC), partition=2)
        producer.send(b"k", b"2", headers={"a": b"x", "b": None}, partition=2)
        producer.send(value=b"3", headers=[("a", b"x"), ("a", b"y")], partition=2)

    first, second, third = topic.read(2)
    assert (first.timestamp, first.headers) == (5000, ())
    assert second.headers == (("a", b"x"), ("b", None))
    assert before <= second.timestamp <= time.time_ns() // 1_000_000
    assert (third.key, third.headers) == (None, (("a", b"x"), ("a", b"y")))


def test_a_bad_record_is_refused_at_once_and_does_not_hold_up_others(topics: Topics) -> None:
    topics.create("t", 2, {"max.message.bytes": 10, "cleanup.policy": "compact"})
    with topics.producer("t", key=Text()) as producer:
        producer.send("a", b"1")

        with pytest.raises(TypeError, match="as bytes, found int 5"):
            producer.send("a", 5)
        with pytest.raises(TypeError):
            producer.send(b"a", b"1")
        with pytest.raises(TopicError, match="too large"):
            producer.send("a", b"x" * 20)
        with pytest.raises(TopicError, match="without a key"):
            producer.send(None, b"1")
        with pytest.raises(TopicError, match="no partition 2"):
            producer.send("a", b"1", partition=2)
        with pytest.raises(ValueError, match="negative"):
            producer.send("a", b"1", timestamp=-7)

        producer.send("a", b"2")

    assert [record.value for record in topics.consumer("t")] == [b"1", b"2"]


def test_a_failed_append_is_reported_and_its_records_are_retried(topics: Topics) -> None:
    topic = topics.create("t")
    manifest = topic.directory / "manifest.json"
    good = manifest.read_bytes()
    producer = topics.producer("t")
    manifest.write_text("{")

    producer.send(b"k", b"1")
    with pytest.raises(TopicError, match="damaged"):
        producer.flush()
    with pytest.raises(TopicError, match="damaged"):
        producer.send(b"k", b"2")
    manifest.write_bytes(good)
    producer.flush()
    producer.send(b"k", b"3")
    producer.close()

    assert [record.value for record in topic.read(0)] == [b"1", b"3"]


def test_closing_reports_lost_records(topics: Topics) -> None:
    topics.create("t")
    producer = topics.producer("t", linger=timedelta(minutes=10))
    producer.send(b"k", b"1")
    topics.delete("t")

    with pytest.raises(UnknownTopicError):
        producer.close()


def test_a_closed_producer_sends_nothing(topics: Topics) -> None:
    topics.create("t")
    producer = topics.producer("t")
    producer.close()

    with pytest.raises(TopicError, match="is closed"):
        producer.send(b"k", b"v")


def test_a_program_that_ends_without_closing_loses_nothing(topics: Topics, start: Start) -> None:
    topic = topics.create("t")
    program = """
        import sys
        import brookmere as bm
        producer = bm.Topics(sys.argv[1]).producer("t", linger="1000s")
        for number in range(100):
            producer.send(b"k", b"%d" % number)
    """

    assert start(program, topics.directory).wait(60) == 0

    assert [record.value for record in topic.read(0)] == [b"%d" % number for number in range(100)]

"""A consumer merges partitions in the order of time and decodes."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brookmere.errors import DataLossError, DeserializationError, TopicError
from brookmere.record import Record
from brookmere.serde import Long, Text
from brookmere.topics import Topic, Topics
from brookmere.topics.maintenance.maintenance import maintain


def fill(topic: Topic, *times: list[int]) -> None:
    for partition, each in enumerate(times):
        topic.append([Record(b"k", b"%d" % time, time, partition=partition) for time in each])


def test_the_partition_whose_next_record_is_oldest_comes_first(topics: Topics) -> None:
    fill(topics.create("t", 3), [10, 5, 30], [7, 8, 40], [6, 50])

    records = list(topics.consumer("t"))

    assert [record.timestamp for record in records] == [6, 7, 8, 10, 5, 30, 40, 50]
    assert all(record.topic == "t" for record in records)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(st.integers(0, 20), max_size=6), min_size=1, max_size=4))
def test_the_order_is_that_of_a_kafka_streams_task(topics: Topics, times: list[list[int]]) -> None:
    name = f"t{time.monotonic_ns()}"
    fill(topics.create(name, len(times)), *times)
    queues = [list(enumerate(each)) for each in times]
    expected = []
    while any(queues):
        heads = [(queue[0][1], partition) for partition, queue in enumerate(queues) if queue]
        _, partition = min(heads)
        expected.append((partition, queues[partition].pop(0)[0]))

    found = [(record.partition, record.offset) for record in topics.consumer(name)]

    assert found == expected


def test_iterating_ends_at_what_is_there_and_goes_on_later(topics: Topics) -> None:
    topic = topics.create("t", 2)
    fill(topic, [1], [2])
    consumer = topics.consumer("t")

    first = [record.timestamp for record in consumer]
    second = list(consumer)
    fill(topic, [4], [3])
    third = [record.timestamp for record in consumer]

    assert (first, second, third) == ([1, 2], [], [3, 4])
    assert consumer.positions == {0: 2, 1: 2}


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("earliest", [1, 2, 3, 4]),
        ("latest", []),
        (3, [3, 4]),
        (datetime(1970, 1, 1, 0, 0, 0, 2000, tzinfo=UTC), [2, 3, 4]),
        ({0: 1}, [3]),
        ({0: 1, 1: 0}, [2, 3, 4]),
    ],
)
def test_a_consumer_starts_at_the_given_position(topics: Topics, start: object, expected: list[int]) -> None:
    fill(topics.create("t", 2), [1, 3], [2, 4])

    found = [record.timestamp for record in topics.consumer("t", start=start)]  # type: ignore[arg-type]

    assert found == expected


@pytest.mark.parametrize(
    ("start", "error"),
    [("later", TypeError), (True, TypeError), ({7: 0}, TopicError), ({0: 9}, DataLossError)],
)
def test_a_wrong_start_is_refused(topics: Topics, start: object, error: type[Exception]) -> None:
    topics.create("t")

    with pytest.raises(error):
        list(topics.consumer("t", start=start))  # type: ignore[arg-type]


def test_a_following_consumer_waits_for_more(topics: Topics) -> None:
    topic = topics.create("t", 2)
    fill(topic, [1], [2])
    consumer = topics.consumer("t", follow=True)
    seen = [next(consumer).timestamp, next(consumer).timestamp]

    thread = threading.Thread(target=fill, args=(topic, [3], [4]))
    thread.start()
    seen += [next(consumer).timestamp, next(consumer).timestamp]
    thread.join()

    assert seen == [1, 2, 3, 4]


def test_polling_returns_what_is_there_up_to_a_limit(topics: Topics) -> None:
    topic = topics.create("t", 2)
    fill(topic, list(range(10)), list(range(10)))

    with topics.consumer("t") as consumer:
        first = consumer.poll(limit=15)
        rest = consumer.poll(limit=15)
        none = consumer.poll()
        late = consumer.poll("10ms")

    assert (len(first), len(rest), none, late) == (15, 5, [], [])
    assert [record.timestamp for record in first + rest] == [time for time in range(10) for _ in range(2)]


def test_polling_waits_for_the_first_record(topics: Topics) -> None:
    topic = topics.create("t")
    consumer = topics.consumer("t")
    thread = threading.Thread(target=fill, args=(topic, [1]))

    thread.start()
    records = consumer.poll("60s")
    thread.join()

    assert [record.timestamp for record in records] == [1]


def test_keys_and_values_are_decoded_and_bad_ones_reported_with_their_position(topics: Topics) -> None:
    topic = topics.create("t")
    topic.append(
        [
            Record(b"a", Long().serialize(1), 1, (("h", b"x"),)),
            Record(b"b", b"three", 2),
            Record(None, None, 3),
        ]
    )
    consumer = topics.consumer("t", key=Text(), value=Long())

    first = next(consumer)
    with pytest.raises(DeserializationError, match="its value cannot be decoded") as caught:
        next(consumer)
    last = next(consumer)

    assert first == Record("a", 1, 1, (("h", b"x"),), "t", 0, 0)
    assert (caught.value.partition, caught.value.offset, caught.value.value) == (0, 1, b"three")
    assert (last.key, last.value, last.offset) == (None, None, 2)


def test_a_consumer_crosses_what_compaction_has_removed(topics: Topics) -> None:
    topic = topics.create("t", config={"cleanup.policy": "compact", "delete.retention.ms": 0})
    topic.append([Record(b"a", b"1", 1), Record(b"b", b"1", 2), Record(b"c", None, 3)])
    consumer = topics.consumer("t")
    topic.append([Record(b"a", b"2", 4), Record(b"c", None, 5)])

    maintain(topic._folder, full=True, now=2**50)
    found = [record.value for record in consumer]
    again = list(consumer)

    assert (found, again) == ([b"1", b"2"], [])
    assert consumer.positions == {0: 5}


def test_a_consumer_overtaken_by_retention_raises_an_error(topics: Topics) -> None:
    topic = topics.create("t", config={"retention.ms": 0})
    fill(topic, [1, 2])
    consumer = topics.consumer("t")
    topic.maintain()

    with pytest.raises(DataLossError, match="from offset 0: its first offset is 2"):
        next(consumer)

"""What is appended to a topic is read back from it."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brookmere.errors import DataLossError, TopicError
from brookmere.record import Record
from brookmere.serde import partition_for
from brookmere.topics import Topics
from brookmere.topics.log.segment import MAX_ROWS, READ_SCHEMA, SEGMENT_SCHEMA

BYTES = st.none() | st.binary(max_size=20)
HEADERS = st.lists(st.tuples(st.text(max_size=5), BYTES), max_size=3).map(tuple)
RECORDS = st.lists(
    st.builds(Record, key=BYTES, value=BYTES, timestamp=st.integers(0, 2**50), headers=HEADERS), max_size=8
)


def test_a_record_comes_back_with_its_place(topics: Topics) -> None:
    topic = topics.create("t", 4)
    headers = (("a", b"1"), ("a", None), ("", b""))

    appended = topic.append([Record(b"k", b"v", 5, headers), Record(b"k", None, 4)])

    home = partition_for(b"k", 4)
    assert appended.offsets == {home: range(2)}
    assert appended.records == 2
    assert list(topic.read(home)) == [
        Record(b"k", b"v", 5, headers, "t", home, 0),
        Record(b"k", None, 4, (), "t", home, 1),
    ]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(RECORDS, max_size=5), st.integers(1, 4))
def test_any_records_come_back_in_their_order(
    topics: Topics, appends: list[list[Record]], partitions: int
) -> None:
    topic = topics.create(f"t{time.monotonic_ns()}", partitions)
    keyless = 0
    expected: list[list[Record]] = [[] for _ in range(partitions)]
    for records in appends:
        for record in records:
            if record.key is None:
                home, keyless = keyless % partitions, keyless + 1
            else:
                home = partition_for(record.key, partitions)
            place = {"topic": topic.name, "partition": home, "offset": len(expected[home])}
            expected[home].append(
                Record(record.key, record.value, record.timestamp, record.headers, **place)  # type: ignore[arg-type]
            )

        topic.append(records)

    assert [list(topic.read(partition)) for partition in range(partitions)] == expected
    assert topic.end_offsets() == [len(records) for records in expected]


def test_a_timestamp_that_is_missing_is_the_present(topics: Topics) -> None:
    before = time.time_ns() // 1_000_000

    topics.create("t").append([Record(b"k", b"v", -1), Record(b"k", b"v", 7)])

    first, second = topics["t"].read(0)
    assert before <= first.timestamp <= time.time_ns() // 1_000_000
    assert second.timestamp == 7


def test_a_topic_of_append_time_stamps_its_records(topics: Topics) -> None:
    before = time.time_ns() // 1_000_000
    topic = topics.create("t", config={"message.timestamp.type": "LogAppendTime"})

    topic.append([Record(b"k", b"v", 7)])
    topic.append_batch(0, pa.table({"value": [b"v"], "timestamp": [7]}))

    assert all(before <= record.timestamp <= time.time_ns() // 1_000_000 for record in topic.read(0))


@pytest.mark.parametrize(
    "bad", [Record("k", b"v", 1), Record(b"k", 5, 1), Record(b"k", b"v", 1, (("h", "x"),))]
)  # type: ignore[arg-type]
def test_what_is_not_bytes_is_refused_with_what_to_use(topics: Topics, bad: Record) -> None:
    topic = topics.create("t")

    with pytest.raises(TypeError, match=r"serde|encode"):
        topic.append([Record(b"k", b"v", 1), bad])

    assert topic.end_offsets() == [0]
    assert list((topic.directory / "segments").iterdir()) == []


def test_a_negative_timestamp_is_refused(topics: Topics) -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        topics.create("t").append([Record(b"k", b"v", -5)])


def test_a_record_that_is_too_large_is_refused_and_with_it_its_append(topics: Topics) -> None:
    topic = topics.create("t", 2, {"max.message.bytes": 100})
    topic.append([Record(b"k", b"x" * 99, 1)])

    with pytest.raises(TopicError, match=r"found 101 bytes .* max.message.bytes is 100"):
        topic.append([Record(b"a", b"x", 1), Record(b"k", b"x" * 90, 1, (("h", b"x" * 9),))])

    assert sum(topic.end_offsets()) == 1
    assert len(list((topic.directory / "segments").iterdir())) == 1


def test_a_compacted_topic_refuses_a_record_without_a_key(topics: Topics) -> None:
    topic = topics.create("t", config={"cleanup.policy": "compact"})

    with pytest.raises(TopicError, match=r"without a key\. Give every record a key"):
        topic.append([Record(None, b"v", 1)])


def test_an_append_of_nothing_changes_nothing(topics: Topics) -> None:
    topic = topics.create("t")

    assert topic.append([]).records == 0
    assert topic.append_batch(0, pa.table({"value": pa.array([], pa.binary())})).records == 0
    assert topic.end_offsets() == [0]


def test_an_iterable_that_fails_leaves_nothing(topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brookmere.topics.log.topic._HELD_RECORDS", 10_000)
    topic = topics.create("t", 2)

    def records() -> object:
        for number in range(25_000):
            yield Record(b"%d" % number, b"v", 1)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        topic.append(records())  # type: ignore[arg-type]

    assert topic.end_offsets() == [0, 0]
    assert list((topic.directory / "segments").iterdir()) == []


def test_large_appends_are_cut_into_batches_and_segments(topics: Topics) -> None:
    topic = topics.create("t", config={"segment.bytes": 8 << 20})
    records = [Record(b"%07d" % number, b"x" * 100, number) for number in range(200_000)]

    topic.append(records)

    info = topic.describe().partitions[0]
    assert info.segments >= 3
    assert max(path.stat().st_size for path in (topic.directory / "segments").iterdir()) <= 9 << 20
    assert all(batch.num_rows <= MAX_ROWS for batch in topic.read_batches(0))
    assert [record.key for record in topic.read(0)] == [record.key for record in records]


def test_a_segment_is_an_arrow_file_that_any_tool_reads(topics: Topics) -> None:
    topic = topics.create("t")
    topic.append([Record(b"k", b"v", 5, (("h", None),)), Record(None, None, 6)])

    (path,) = (topic.directory / "segments").iterdir()
    table = pa.ipc.open_file(path).read_all()

    assert path.name.startswith("0-")
    assert table.schema == SEGMENT_SCHEMA
    assert table.column("delta").to_pylist() == [0, 1]
    assert table.column("headers").to_pylist() == [[{"key": "h", "value": None}], None]


def test_batches_have_offsets_and_can_be_cut(topics: Topics) -> None:
    topic = topics.create("t")
    for first in (0, 10, 20):
        topic.append([Record(b"k", b"%d" % number, number) for number in range(first, first + 10)])

    table = pa.Table.from_batches(topic.read_batches(0, 5, 25), schema=READ_SCHEMA)

    assert table.column("offset").to_pylist() == list(range(5, 25))
    assert table.column("value").to_pylist() == [b"%d" % number for number in range(5, 25)]
    assert [record.offset for record in topic.read(0, end=3)] == [0, 1, 2]
    assert [record.offset for record in topic.read(0, 28, 99)] == [28, 29]
    assert list(topic.read(0, 30)) == []
    assert list(topic.read(0, 7, 7)) == []


def test_an_offset_beyond_the_end_is_reported(topics: Topics) -> None:
    topic = topics.create("t")
    topic.append([Record(b"k", b"v", 1)])

    with pytest.raises(DataLossError, match="from offset 2: it ends at 1"):
        topic.read(0, 2)


@pytest.mark.parametrize("partition", [-1, 2])
def test_an_unknown_partition_is_reported(topics: Topics, partition: int) -> None:
    topic = topics.create("t", 2)
    for use in (
        lambda: topic.read(partition),
        lambda: topic.record(partition, 0),
        lambda: topic.append_batch(partition, pa.table({"value": [b"v"]})),
    ):
        with pytest.raises(TopicError, match=f"no partition {partition}: it has 2"):
            use()


def test_one_record_is_found_by_its_offset(topics: Topics) -> None:
    topic = topics.create("t")
    topic.append([Record(b"k", b"%d" % number, number) for number in range(100_000)])

    found = topic.record(0, 70_001)

    assert found == Record(b"k", b"70001", 70_001, (), "t", 0, 70_001)
    assert topic.record(0, 100_000) is None
    assert topic.record(0, -1) is None


def test_offsets_are_found_by_time(topics: Topics) -> None:
    topic = topics.create("t", 2)
    for times in ([10, 5, 30], [20, 40], [35]):
        topic.append([Record(b"k", b"v", time, partition=1) for time in times])

    found = {time: topic.offsets_for_time(time)[1] for time in (0, 10, 11, 30, 31, 40, 41)}

    assert found == {0: 0, 10: 0, 11: 2, 30: 2, 31: 4, 40: 4, 41: 6}
    assert topic.offsets_for_time(0)[0] == 0


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), max_size=4), st.integers(0, 10))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_offset_of_a_time_is_that_of_the_first_record_not_older(
    topics: Topics, appends: list[list[int]], sought: int
) -> None:
    topic = topics.create(f"t{time.monotonic_ns()}")
    for times in appends:
        topic.append([Record(b"k", b"v", time) for time in times])

    everything = [time for times in appends for time in times]
    expected = next((place for place, time in enumerate(everything) if time >= sought), len(everything))
    assert topic.offsets_for_time(sought) == [expected]


def test_columns_are_appended_at_once(topics: Topics) -> None:
    topic = topics.create("t", 3)
    table = pa.table({"key": ["a", None], "value": ["x", "y"], "timestamp": pa.array([5, None], pa.int64())})

    appended = topic.append_batch(2, table)

    first, second = topic.read(2)
    assert appended.offsets == {2: range(2)}
    assert (first.key, first.value, first.timestamp) == (b"a", b"x", 5)
    assert (second.key, second.value) == (None, b"y")
    assert second.timestamp > 10**12


def test_columns_without_a_partition_go_where_their_keys_say(topics: Topics) -> None:
    topic = topics.create("t", 5)
    keys = [b"%d" % number for number in range(1000)]

    topic.append_batch(None, pa.record_batch({"key": keys, "value": keys}))

    for partition in range(5):
        found = [record.key for record in topic.read(partition)]
        assert found == [key for key in keys if partition_for(key, 5) == partition]


@pytest.mark.parametrize(
    "columns", [{"key": [b"k"]}, {"value": [b"v"], "extra": [1]}, {"value": [1.5]}, {"value": [[b"x"]]}]
)
def test_columns_that_do_not_fit_are_refused(topics: Topics, columns: dict[str, list[object]]) -> None:
    with pytest.raises(TypeError, match="append_batch"):
        topics.create("t").append_batch(0, pa.table(columns))


def test_a_topic_describes_its_contents(topics: Topics) -> None:
    topic = topics.create("t", 2)
    topic.append([Record(b"k", b"v", 5, partition=1)] * 3)
    topic.append([Record(b"k", b"v", 3, partition=1)])

    info = topic.describe()

    assert (info.name, info.id, info.records, info.config) == ("t", topic.id, 4, topic.config)
    assert info.partitions[0].last_timestamp is None
    second = info.partitions[1]
    assert (second.start, second.end, second.records, second.segments, second.last_timestamp) == (
        0,
        4,
        4,
        2,
        5,
    )
    assert (
        second.bytes
        == info.bytes
        == sum(p.stat().st_size for p in Path(topic.directory, "segments").iterdir())
    )

"""Compaction keeps the last record of each key, checked against a model of plain Python."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brookmere.record import Record
from brookmere.topics import Topic, Topics
from brookmere.topics.log.history import History
from brookmere.topics.log.manifest import Segment
from brookmere.topics.log.segment import SEGMENT_SCHEMA
from brookmere.topics.maintenance.maintenance import maintain
from brookmere.topics.settings import TopicConfig

START = 10**12


@dataclass
class Clock:
    now: int = START

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """A clock for appends and merges that the test moves."""
    clock = Clock()
    monkeypatch.setattr("brookmere.topics.log.append.now_ms", clock)
    monkeypatch.setattr("brookmere.topics.maintenance.merge.now_ms", clock)
    monkeypatch.setattr("brookmere.topics.maintenance.maintenance.now_ms", clock)
    return clock


def create(topics: Topics, **config: object) -> Topic:
    names = {name.replace("_", "."): value for name, value in config.items()}
    return topics.create(f"t{time.monotonic_ns()}", config={"cleanup.policy": "compact", **names})


def put(topic: Topic, *pairs: tuple[str, str | None], timestamp: int = 0) -> None:
    topic.append(
        [Record(key.encode(), None if value is None else value.encode(), timestamp) for key, value in pairs]
    )


def content(topic: Topic) -> list[tuple[int | None, bytes, bytes | None]]:
    return [(record.offset, record.key, record.value) for record in topic.read(0)]


def test_the_last_record_of_each_key_stays_at_its_offset(topics: Topics) -> None:
    topic = create(topics)
    put(topic, ("a", "1"), ("b", "1"), ("a", "2"))
    put(topic, ("c", "1"), ("a", "3"))

    done = topic.maintain()

    assert done.compacted_records == 2
    assert content(topic) == [(1, b"b", b"1"), (3, b"c", b"1"), (4, b"a", b"3")]
    assert (topic.start_offsets(), topic.end_offsets()) == ([0], [5])
    assert [record.offset for record in topic.read(0, 2, 4)] == [3]
    assert topic.record(0, 2) is None
    assert topic.repair().damages == ()


def test_timestamps_headers_and_times_are_those_of_what_stays(topics: Topics) -> None:
    topic = create(topics)
    topic.append([Record(b"a", b"1", 50), Record(b"b", b"1", 20, (("h", None),)), Record(b"a", b"2", 10)])

    topic.maintain()

    assert [(r.timestamp, r.headers) for r in topic.read(0)] == [(20, (("h", None),)), (10, ())]
    assert topic.offsets_for_time(30) == [3]
    assert topic.describe().partitions[0].last_timestamp == 20


def test_a_little_that_is_new_does_not_rewrite_a_lot_that_is_compacted(topics: Topics) -> None:
    topic = create(topics)
    put(topic, *[(f"key {number}", "x" * 100) for number in range(1000)])
    topic.maintain()
    put(topic, ("key 0", "new"))

    waits = topic.maintain()
    forced = topic.maintain(full=True)
    again = topic.maintain(full=True)

    assert (waits.compacted_records, forced.compacted_records, again.compacted_records) == (0, 1, 0)
    assert topic.describe().records == 1000


def test_a_delete_marker_stays_for_its_time_and_goes_then(topics: Topics, clock: Clock) -> None:
    topic = create(topics, delete_retention_ms=1000)
    put(topic, ("a", "1"), ("b", "1"), ("a", None))

    maintain(topic._folder, now=START + 1000)
    marked = content(topic)
    maintain(topic._folder, now=START + 1001)

    assert marked == [(1, b"b", b"1"), (2, b"a", None)]
    assert content(topic) == [(1, b"b", b"1")]


def test_a_delete_marker_with_an_old_timestamp_stays_as_long(topics: Topics, clock: Clock) -> None:
    topic = create(topics, delete_retention_ms=1000)
    put(topic, ("a", "1"), ("a", None), timestamp=1)

    maintain(topic._folder, now=START + 500)

    assert content(topic) == [(1, b"a", None)]


def test_delete_markers_go_although_younger_ones_are_merged_with_them(topics: Topics, clock: Clock) -> None:
    topic = create(topics, delete_retention_ms=1600)
    put(topic, ("a", None))
    for step in range(1, 5):
        clock.now = START + step * 1000
        put(topic, ("b", str(step)))
        maintain(topic._folder, now=clock.now, full=True)

    assert content(topic) == [(4, b"b", b"4")]


def test_everything_may_go(topics: Topics) -> None:
    topic = create(topics, delete_retention_ms=0)
    put(topic, ("a", "1"), ("a", None))

    maintain(topic._folder, now=2**50)
    empty = content(topic)
    put(topic, ("a", "2"))

    assert empty == []
    assert topic.offsets_for_time(0) == [2]
    assert content(topic) == [(2, b"a", b"2")]


def test_young_records_are_not_touched_and_replace_nothing(topics: Topics, clock: Clock) -> None:
    topic = create(topics, min_compaction_lag_ms=1000)
    put(topic, ("a", "1"), ("a", "2"))
    clock.now = START + 1000
    put(topic, ("a", "3"), ("a", "4"))

    maintain(topic._folder, now=START + 500)
    young = content(topic)
    maintain(topic._folder, now=START + 1500)
    half = content(topic)
    maintain(topic._folder, now=START + 2001, full=True)

    assert [value for _, _, value in young] == [b"1", b"2", b"3", b"4"]
    assert [value for _, _, value in half] == [b"2", b"3", b"4"]
    assert [value for _, _, value in content(topic)] == [b"4"]


def test_a_record_from_the_future_is_young(topics: Topics, clock: Clock) -> None:
    topic = create(topics, min_compaction_lag_ms=1000)
    put(topic, ("a", "1"), timestamp=START + 5000)
    put(topic, ("a", "2"))

    maintain(topic._folder, now=START + 5000, full=True)
    young = content(topic)
    maintain(topic._folder, now=START + 6001, full=True)

    assert len(young) == 2
    assert len(content(topic)) == 1


def test_a_large_partition_is_compacted_in_several_segments(topics: Topics) -> None:
    topic = create(topics, segment_bytes=64 * 1024)
    for step in range(4):
        put(topic, *[(f"{number % 1400:010}", f"{step}" * 50) for number in range(2000)])

    done = topic.maintain(full=True)

    assert done.compacted_records == 6600
    assert 2 <= topic.describe().partitions[0].segments <= 8
    latest = {key: value for _, key, value in content(topic)}
    assert latest == {b"%010d" % number: b"3" * 50 for number in range(1400)}


def test_a_reader_goes_on_through_a_compaction(topics: Topics) -> None:
    topic = create(topics, file_delete_delay_ms=0)
    put(topic, ("a", "1"), ("b", "1"))
    put(topic, ("a", "2"), ("c", "1"))
    put(topic, ("b", "2"), ("a", "3"))
    reader = topic.read(0)
    first = next(reader)

    topic.maintain(full=True)
    topic.maintain()
    rest = [(record.key, record.value) for record in reader]

    assert first.value == b"1"
    # The second record was in the reader's hands already.
    assert rest == [(b"b", b"1"), (b"c", b"1"), (b"b", b"2"), (b"a", b"3")]


@dataclass(frozen=True)
class Row:
    offset: int
    key: bytes
    value: bytes | None
    timestamp: int
    at: int


def compacted(rows: list[Row], now: int, lag: int, retention: int) -> list[Row]:
    """The rule itself."""
    young = [row.offset for row in rows if lag and max(row.at, row.timestamp) > now - lag]
    upto = min(young, default=2**60)
    last = {row.key: row.offset for row in rows if row.offset < upto}
    return [
        row
        for row in rows
        if row.offset >= upto
        or (last[row.key] == row.offset and (row.value is not None or row.at >= now - retention))
    ]


PUTS = st.lists(
    st.tuples(st.sampled_from([b"a", b"b", b"c"]), st.none() | st.just(b"v"), st.integers(-3, 3)),
    min_size=1,
    max_size=4,
)
STEPS = st.lists(PUTS | st.sampled_from(["wait", "wait", "compact", "maintain"]), max_size=25)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(STEPS, st.sampled_from([0, 2500]), st.sampled_from([0, 1600, 4800]))
def test_any_sequence_is_compacted_as_the_rule_says(
    topics: Topics, clock: Clock, steps: list[object], lag: int, retention: int
) -> None:
    topic = create(topics, min_compaction_lag_ms=lag, delete_retention_ms=retention)
    clock.now = START
    rows: list[Row] = []
    latest: dict[bytes, bytes | None] = {}
    for step in steps:
        if step == "wait":
            clock.now += 1000
        elif step == "compact":
            rows = compacted(rows, clock.now, lag, retention)
            maintain(topic._folder, now=clock.now, full=True)
        elif step == "maintain":
            maintain(topic._folder, now=clock.now)
            left = {record.offset for record in topic.read(0)}
            allowed = compacted(rows, clock.now, lag, retention)
            assert {row.offset for row in allowed} <= left
            rows = [row for row in rows if row.offset in left]
        else:
            assert isinstance(step, list)
            end = topic.end_offsets()[0]
            for place, (key, value, shift) in enumerate(step):
                rows.append(Row(end + place, key, value, clock.now + shift * 1000, clock.now))
                latest[key] = value
            topic.append([Record(key, value, clock.now + shift * 1000) for key, value, shift in step])

        found = [(r.offset, r.key, r.value, r.timestamp) for r in topic.read(0)]
        assert found == [(row.offset, row.key, row.value, row.timestamp) for row in rows]

    values = {record.key: record.value for record in topic.read(0)}
    assert {k: v for k, v in values.items() if v} == {k: v for k, v in latest.items() if v}


def test_a_history_stays_short() -> None:
    config = TopicConfig.of({"delete.retention.ms": 1600})
    history = History(tuple((offset, offset * 10) for offset in range(1, 1001)))

    short = history.shortened(config, now=10_000)

    assert len(short.appended) <= 20
    for offset in range(1000):
        assert history.time_of(offset) <= short.time_of(offset)
        if history.time_of(offset) > 10_000 - 1600:
            assert short.time_of(offset) - history.time_of(offset) <= 100


def test_a_history_is_kept_in_the_schema() -> None:
    segment = Segment("0-x.compacted.arrow", 0, 10, 10, 1, 1, 1, 1, 77)
    history = History(((5, 10), (10, 20)), deletion=3, compacted=True)

    assert History.of(history.noted_in(SEGMENT_SCHEMA), segment) == history
    assert History.of(SEGMENT_SCHEMA, segment) == History(((10, 77),))

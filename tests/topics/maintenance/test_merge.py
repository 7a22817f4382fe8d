"""Small segments become few, and nobody who reads notices."""

from __future__ import annotations

import time

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brookmere.record import Record
from brookmere.topics import Topic, TopicConfig, Topics
from brookmere.topics.log.manifest import Segment
from brookmere.topics.log.segment import MAX_ROWS
from brookmere.topics.maintenance.maintenance import maintain
from brookmere.topics.maintenance.merge import due_merges

KB = 1024


def segments(*sizes: int, span: int = 0) -> list[Segment]:
    return [
        Segment(f"0-{place}.arrow", place * 10, place * 10 + 10, 10, size, 0, 0, span, 0)
        for place, size in enumerate(sizes)
    ]


def test_few_small_segments_stay() -> None:
    assert due_merges(segments(*[2 * KB] * 15), TopicConfig()) == []


def test_sixteen_neighbours_become_one() -> None:
    assert due_merges(segments(*[2 * KB] * 16), TopicConfig()) == [slice(0, 16)]


def test_small_ones_behind_a_large_one_do_not_rewrite_it() -> None:
    config = TopicConfig()

    assert due_merges(segments(20_000 * KB, *[2 * KB] * 15), config) == []
    assert due_merges(segments(20_000 * KB, *[2 * KB] * 16), config) == [slice(1, 17)]


def test_small_ones_between_large_ones_go_with_them() -> None:
    found = due_merges(segments(*[100 * KB, 2 * KB] * 16), TopicConfig())

    assert found == [slice(0, 32)]


def test_no_segment_gets_larger_than_the_limit() -> None:
    config = TopicConfig.of({"segment.bytes": 64 * KB})

    found = due_merges(segments(*[10 * KB] * 20), config)

    assert [group.stop - group.start for group in found] == [6, 6, 6, 2]


def test_full_segments_stay() -> None:
    assert due_merges(segments(*[40_000 * KB] * 40), TopicConfig()) == []


def test_with_a_retention_segments_stay_small_enough_for_it() -> None:
    by_size = TopicConfig.of({"retention.bytes": 800 * KB})
    by_time = TopicConfig.of({"retention.ms": 800})

    assert [g.stop - g.start for g in due_merges(segments(*[20 * KB] * 16), by_size)] == [5, 5, 5]
    assert due_merges(segments(*[100 * KB] * 16, span=100), by_time) == []
    assert due_merges(segments(*[100 * KB] * 16, span=99), by_time) == [slice(0, 16)]


def test_many_tiny_appends_leave_few_segments_and_a_small_manifest(topics: Topics) -> None:
    topic = topics.create("t")

    for number in range(500):
        topic.append([Record(b"k", b"%d" % number, number)])

    assert topic.describe().partitions[0].segments <= 40
    assert (topic.directory / "manifest.json").stat().st_size < 100_000
    assert [record.value for record in topic.read(0)] == [b"%d" % number for number in range(500)]


def everything(topic: Topic) -> list[Record]:
    return [record for partition in range(topic.partitions) for record in topic.read(partition)]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.integers(0, 40) | st.sampled_from(["merge", "merge all"]), max_size=30),
    st.integers(1, 3),
)
def test_any_appends_and_merges_read_back_the_same(
    topics: Topics, steps: list[int | str], partitions: int
) -> None:
    name = f"t{time.monotonic_ns()}"
    topic = topics.create(name, partitions, {"segment.bytes": 16 * KB, "file.delete.delay.ms": 0})
    plain = topics.create(f"{name}-plain", partitions, {"segment.bytes": 2**30})
    number = 0
    for step in steps:
        if isinstance(step, str):
            maintain(topic._folder, full=step == "merge all")
            continue
        records = [Record(b"%d" % i, bytes(i), i, (("h", b"%d" % i),) * (i % 2)) for i in range(step)]
        number += step
        topic.append(records)
        plain.append(records)

    found, expected = everything(topic), everything(plain)

    assert [(r.key, r.value, r.timestamp, r.headers, r.partition, r.offset) for r in found] == [
        (r.key, r.value, r.timestamp, r.headers, r.partition, r.offset) for r in expected
    ]
    assert len(found) == number
    assert topic.repair().damages == ()


def test_a_merged_segment_has_large_batches(topics: Topics) -> None:
    topic = topics.create("t")
    for _ in range(10):
        topic.append([Record(b"k", b"v", 1)] * 10_000)

    topic.maintain(full=True)

    (path,) = [path for path in (topic.directory / "segments").iterdir() if path.stat().st_size > 2_000_000]
    reader = pa.ipc.open_file(path)
    assert reader.num_record_batches == 2
    assert reader.get_batch(0).num_rows <= MAX_ROWS


def test_a_reader_goes_on_when_its_files_are_merged_and_deleted(topics: Topics) -> None:
    topic = topics.create("t", config={"file.delete.delay.ms": 0})
    for number in range(10):
        topic.append([Record(b"k", b"%d" % (2 * number), 1), Record(b"k", b"%d" % (2 * number + 1), 1)])
    reader = topic.read(0)
    seen = [next(reader) for _ in range(5)]

    topic.maintain(full=True)
    topic.maintain()
    left = list((topic.directory / "segments").iterdir())
    seen += reader

    assert len(left) == 1
    assert [record.value for record in seen] == [b"%d" % number for number in range(20)]


def test_a_merge_that_fails_does_not_fail_the_append(topics: Topics) -> None:
    topic = topics.create("t")
    for _ in range(15):
        topic.append([Record(b"k", b"v", 1)])
    damaged = next((topic.directory / "segments").iterdir())
    damaged.write_bytes(b"not what was written")

    topic.append([Record(b"k", b"v", 1)])
    topic.append([Record(b"k", b"v", 1)])

    assert topic.end_offsets() == [17]
    assert topic.describe().partitions[0].segments == 17

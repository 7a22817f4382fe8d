"""Retention deletes whole segments from the front, by age and by size."""

from __future__ import annotations

import pytest

from brookmere.errors import DataLossError
from brookmere.record import Record
from brookmere.topics import Topic, Topics
from brookmere.topics.maintenance.maintenance import maintain

HOUR = 3_600_000


def with_segments(topics: Topics, config: dict[str, object], *times: int) -> Topic:
    topic = topics.create("t", config={"file.delete.delay.ms": 0, **config})
    for time in times:
        topic.append([Record(b"k", b"x" * 1000, time)] * 10)
    return topic


def test_segments_go_when_their_youngest_record_is_too_old(topics: Topics) -> None:
    topic = with_segments(topics, {"retention.ms": HOUR}, 0, 10, 5 * HOUR)

    done = maintain(topic._folder, now=HOUR + 5)
    later = maintain(topic._folder, now=2 * HOUR)

    assert (done.expired_records, later.expired_records) == (10, 10)
    assert (topic.start_offsets(), topic.end_offsets()) == ([20], [30])
    assert [record.offset for record in topic.read(0)] == list(range(20, 30))
    assert len(list((topic.directory / "segments").iterdir())) == 1


def test_an_old_segment_behind_a_young_one_stays(topics: Topics) -> None:
    topic = with_segments(topics, {"retention.ms": HOUR}, 5 * HOUR, 0)

    assert maintain(topic._folder, now=5 * HOUR).expired_records == 0


def test_age_can_be_counted_from_the_newest_record(topics: Topics) -> None:
    topic = with_segments(topics, {"retention.ms": HOUR, "retention.clock": "records"}, 0, 10, HOUR + 5)

    assert maintain(topic._folder).expired_records == 10
    assert topic.start_offsets() == [10]


def test_offsets_go_on_when_everything_is_gone(topics: Topics) -> None:
    topic = with_segments(topics, {"retention.ms": 0}, 0, 0)

    topic.maintain()
    empty = list(topic.read(0))
    topic.append([Record(b"k", b"v", 2**50)])

    assert empty == []
    assert (topic.start_offsets(), topic.end_offsets()) == ([20], [21])
    assert [record.offset for record in topic.read(0)] == [20]
    assert topic.offsets_for_time(0) == [20]


def test_the_oldest_segments_go_when_the_partition_is_too_large(topics: Topics) -> None:
    topic = with_segments(topics, {"retention.bytes": 25_000}, 1, 2, 3, 4, 5)

    topic.maintain()

    info = topic.describe().partitions[0]
    assert info.start == 20
    assert info.bytes >= 25_000


@pytest.mark.parametrize(("policy", "expired"), [("compact", 0), ("compact,delete", 10)])
def test_a_compacted_topic_has_no_retention_unless_it_also_deletes(
    topics: Topics, policy: str, expired: int
) -> None:
    topic = with_segments(topics, {"cleanup.policy": policy, "retention.ms": 0}, 0)

    assert maintain(topic._folder).expired_records == expired


def test_reading_deleted_records_is_an_error(topics: Topics) -> None:
    topic = with_segments(topics, {"retention.ms": 0}, 0)
    reader = topic.read(0)
    topic.append([Record(b"k", b"v", 2**50)])
    topic.maintain()

    with pytest.raises(DataLossError, match="from offset 5: its first offset is 10"):
        topic.read(0, 5)
    with pytest.raises(DataLossError, match="from offset 0: its first offset is 10"):
        list(reader)
    assert topic.record(0, 5) is None


def test_a_reader_keeps_its_files_for_a_while(topics: Topics) -> None:
    topic = with_segments(topics, {"retention.ms": HOUR, "file.delete.delay.ms": 60_000}, 0, 0)
    reader = topic.read(0)

    maintain(topic._folder, now=3 * HOUR)
    seen = list(reader)
    waiting = len(list((topic.directory / "segments").iterdir()))
    maintain(topic._folder, now=3 * HOUR + 60_000)

    assert len(seen) == 20
    assert waiting == 2
    assert list((topic.directory / "segments").iterdir()) == []

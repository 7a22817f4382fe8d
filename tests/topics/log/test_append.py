"""An append is there completely, once, or not at all."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from brookmere.errors import TopicError
from brookmere.record import Record
from brookmere.topics import Topics, Writer
from brookmere.topics.log.append import Append
from brookmere.topics.log.columns import content_of
from brookmere.topics.maintenance.maintenance import ORPHAN_AGE_MS, maintain

RECORDS = [Record(b"%d" % number, b"v", number) for number in range(10)]


def segment_files(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / "segments").iterdir())


def test_a_batch_of_a_writer_is_appended_once(topics: Topics) -> None:
    topic = topics.create("t", 2)

    first = topic.append(RECORDS, writer=Writer("app", "q1", 0))
    again = topic.append(RECORDS, writer=Writer("app", "q1", 0))
    following = topic.append(RECORDS[:1], writer=Writer("app", "q1", 1))
    earlier = topic.append(RECORDS, writer=Writer("app", "q1", 0))

    assert (first.records, first.duplicate) == (10, False)
    assert (again.records, again.duplicate) == (0, True)
    assert (following.records, following.duplicate) == (1, False)
    assert earlier.duplicate
    assert sum(topic.end_offsets()) == 11
    assert (topic.describe().writers["app"].query, topic.describe().writers["app"].batch) == ("q1", 1)


def test_another_query_of_the_application_starts_from_scratch(topics: Topics) -> None:
    topic = topics.create("t")
    topic.append(RECORDS, writer=Writer("app", "q1", 5))

    appended = topic.append(RECORDS, writer=Writer("app", "q2", 0))

    assert not appended.duplicate
    assert topic.describe().writers["app"].query == "q2"


def test_writers_of_other_applications_do_not_meet(topics: Topics) -> None:
    topic = topics.create("t")
    topic.append(RECORDS, writer=Writer("one", "q", 5))

    assert not topic.append(RECORDS, writer=Writer("two", "q", 0)).duplicate
    assert set(topic.describe().writers) == {"one", "two"}


def test_an_empty_batch_of_a_writer_is_noted(topics: Topics) -> None:
    topic = topics.create("t")

    topic.append([], writer=Writer("app", "q", 3))

    assert topic.describe().writers["app"].batch == 3
    assert topic.append(RECORDS, writer=Writer("app", "q", 3)).duplicate


def test_a_batch_that_another_process_appends_meanwhile_is_left_out_and_its_files_are_removed(
    topics: Topics,
) -> None:
    topic = topics.create("t")
    append = Append(topic._folder)
    append.write(0, content_of(RECORDS, 0))
    topic.append(RECORDS, writer=Writer("app", "q", 0))

    appended, _ = append.commit(Writer("app", "q", 0))

    assert appended.duplicate
    assert topic.end_offsets() == [10]
    assert len(segment_files(topic.directory)) == 1


def test_nothing_is_visible_before_the_commit(topics: Topics) -> None:
    topic = topics.create("t", 2)
    append = Append(topic._folder)

    append.write(0, content_of(RECORDS, 0))
    append.write(1, content_of(RECORDS, 0))
    before = topic.end_offsets()
    append.commit(None)

    assert before == [0, 0]
    assert topic.end_offsets() == [10, 10]


def test_an_append_whose_files_were_removed_fails_as_a_whole(topics: Topics) -> None:
    topic = topics.create("t")
    append = Append(topic._folder)
    append.write(0, content_of(RECORDS, 0))
    maintain(topic._folder, now=time.time_ns() // 1_000_000 + ORPHAN_AGE_MS + 1000)

    with pytest.raises(TopicError, match="removed before the commit"):
        append.commit(None)

    assert topic.end_offsets() == [0]


def test_an_append_keeps_its_files_young_while_it_writes(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("brookmere.topics.log.append._TOUCH_SECONDS", 0.0)
    topic = topics.create("t")
    append = Append(topic._folder)
    append.write(0, content_of(RECORDS, 0))
    (name,) = segment_files(topic.directory)
    os.utime(topic.directory / "segments" / name, (0, 0))

    append.write(0, content_of(RECORDS, 0))
    maintain(topic._folder)
    append.commit(None)

    assert len(list(topic.read(0))) == 20

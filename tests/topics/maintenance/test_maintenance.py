"""Files that nobody needs go, in time."""

from __future__ import annotations

import os
import time
from pathlib import Path

from brookmere.record import Record
from brookmere.topics import Topic, Topics
from brookmere.topics.maintenance.maintenance import ORPHAN_AGE_MS, maintain


def files(topic: Topic) -> set[str]:
    return {path.name for path in (topic.directory / "segments").iterdir()}


def make_old(path: Path) -> None:
    old = time.time() - ORPHAN_AGE_MS / 1000 - 60
    os.utime(path, (old, old))


def test_left_overs_of_a_crash_go_after_an_hour(topics: Topics) -> None:
    topic = topics.create("t")
    topic.append([Record(b"k", b"v", 1)])
    (named,) = files(topic)
    for name in ("0-old.arrow", "0-old.arrow.tmp", "0-young.arrow"):
        (topic.directory / "segments" / name).write_bytes(b"x")
    (topic.directory / "manifest.json.old.tmp").write_bytes(b"x")
    make_old(topic.directory / "segments" / named)
    for name in ("segments/0-old.arrow", "segments/0-old.arrow.tmp", "manifest.json.old.tmp"):
        make_old(topic.directory / name)

    done = topic.maintain()

    assert done.deleted_files == 3
    assert files(topic) == {named, "0-young.arrow"}
    assert len(list(topic.read(0))) == 1


def test_half_created_topics_go_after_an_hour(topics: Topics) -> None:
    topics.create("t")
    for name in ("~new-old", "~deleted-old", "~new-young"):
        (topics.directory / name / "segments").mkdir(parents=True)
    make_old(topics.directory / "~new-old")
    make_old(topics.directory / "~deleted-old")

    topics.create("u")

    assert sorted(path.name for path in topics.directory.iterdir()) == ["t", "u", "~new-young"]
    assert topics.names() == ["t", "u"]


def test_merged_files_wait_in_the_trash(topics: Topics) -> None:
    topic = topics.create("t")
    for _ in range(3):
        topic.append([Record(b"k", b"v", 1)])
    now = time.time_ns() // 1_000_000

    merged = maintain(topic._folder, full=True, now=now)
    waiting = files(topic)
    early = maintain(topic._folder, now=now + 59_999)
    late = maintain(topic._folder, now=now + 60_000)

    assert (merged.merged_segments, merged.deleted_files) == (3, 0)
    assert len(waiting) == 4
    assert (early.deleted_files, late.deleted_files) == (0, 3)
    assert len(files(topic)) == 1


def test_maintenance_that_has_nothing_to_do_leaves_the_manifest(topics: Topics) -> None:
    topic = topics.create("t", config={"cleanup.policy": "compact,delete", "retention.ms": 1000})
    topic.append([Record(b"k", b"v", 2**50)])
    topic.maintain()
    before = (topic.directory / "manifest.json").read_bytes()

    topic.maintain()

    assert (topic.directory / "manifest.json").read_bytes() == before

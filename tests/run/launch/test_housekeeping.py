"""A running application maintains its topics."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.run.launch import housekeeping
from brookmere.run.launch.housekeeping import Housekeeping
from brookmere.topics import Topic


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "_WRITTEN_SECONDS", 0.01)
    monkeypatch.setattr(housekeeping, "_ROUNDS_PER_READ", 2)


def expiring(topics: bm.Topics, name: str) -> Topic:
    topic = topics.create(name, config={"retention.ms": 1000})
    topic.append([bm.Record(b"k", b"old", 1)])
    return topic


def test_retention_happens_while_the_application_runs(tmp_path: Path) -> None:
    topics = bm.Topics(tmp_path)
    written, read = expiring(topics, "written"), expiring(topics, "read")
    keeper = Housekeeping(topics, written=["written", "missing"], read=["read"])

    keeper.start()
    deadline = time.monotonic() + 30
    while (written.start_offsets(), read.start_offsets()) != ([1], [1]) and time.monotonic() < deadline:
        time.sleep(0.01)
    keeper.end()

    assert (written.start_offsets(), read.start_offsets()) == ([1], [1])


def test_topic_that_cannot_be_maintained_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    topics = bm.Topics(tmp_path)
    broken = topics.create("broken")
    (broken.directory / "manifest.json").write_text("{")
    kept = expiring(topics, "kept")
    keeper = Housekeeping(topics, written=["broken", "kept"], read=[])

    with caplog.at_level(logging.WARNING):
        keeper.start()
        deadline = time.monotonic() + 30
        while kept.start_offsets() != [1] and time.monotonic() < deadline:
            time.sleep(0.01)
        keeper.end()

    assert kept.start_offsets() == [1]
    assert sum("the topic broken cannot be maintained" in r.getMessage() for r in caplog.records) == 1

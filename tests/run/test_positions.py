"""A store knows how far its application has read the topics."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.run.positions import ReadPositions

LOG = "app-counts-changelog"


@pytest.fixture
def topics(tmp_path: Path) -> bm.Topics:
    topics = bm.Topics(tmp_path)
    topics.create(LOG)
    return topics


def grow(topics: bm.Topics, records: int) -> None:
    topics[LOG].append([bm.Record(b"k", b"v", 0)] * records)


def read(offset: int) -> bm.queries.Position:
    return bm.queries.Position({"in": {0: offset}})


def test_what_was_read_is_covered_by_what_came_of_it(topics: bm.Topics) -> None:
    known = ReadPositions(["in"], topics, read(0))
    seen = []

    for batch in range(1, 4):
        grow(topics, 2)
        known.processed(read(10 * batch))
        seen.append(known.covered(LOG, {0: 2 * batch}))

    assert seen == [read(10), read(20), read(30)]
    assert known.covered(LOG, {0: 5}) == read(20)
    assert known.covered(LOG, {0: 1}) == {}


def test_a_batch_without_changes_is_covered_at_once(topics: bm.Topics) -> None:
    known = ReadPositions(["in"], topics, read(0))
    known.covered(LOG, {})

    known.processed(read(10))

    assert known.covered(LOG, {}) == read(10)


def test_what_was_read_before_the_start_is_known(topics: bm.Topics) -> None:
    grow(topics, 3)

    assert ReadPositions(["in"], topics, read(7)).covered(LOG, {0: 3}) == read(7)


def test_many_batches_are_known_a_little_less_exactly(topics: bm.Topics) -> None:
    known = ReadPositions(["in"], topics, read(0))

    for batch in range(1, 301):
        grow(topics, 1)
        known.processed(read(batch))
        assert known.covered(LOG, {0: batch}) == read(batch)

    assert 95 <= known.covered(LOG, {0: 100})["in"][0] <= 100


def test_a_changelog_that_is_not_there_covers_nothing(topics: bm.Topics) -> None:
    assert ReadPositions(["in"], topics, read(1)).covered("other", {}) == {}


def test_waiting_ends_with_the_batch(topics: bm.Topics) -> None:
    known = ReadPositions(["in"], topics, read(0))
    found = []
    waiting = threading.Thread(target=lambda: found.append(known.wait(read(5), time.monotonic() + 30)))
    waiting.start()

    known.processed(read(4))
    known.processed(read(5))
    waiting.join()

    assert found == [True]


def test_nobody_waits_for_an_application_that_has_ended(topics: bm.Topics) -> None:
    known = ReadPositions(["in"], topics, read(0))

    known.end()

    assert known.wait(read(5), time.monotonic() + 30) is False

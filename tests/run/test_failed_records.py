"""Failed records: the one that stops an application is a dead letter, once; skipped ones are logged."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.errors import ProcessingError
from brookmere.run.failed_records import SkippedLog, write_dead_letter


@pytest.fixture
def topics(tmp_path: Path) -> bm.Topics:
    topics = bm.Topics(tmp_path)
    topics.create("in").append([bm.Record(b"k", b"bad", 5, (("from", b"mail"),))])
    return topics


def failure(offset: int = 0, message: str = "no number") -> bm.errors.RecordError:
    return bm.errors.DeserializationError(
        message,
        reason="BadBytes",
        topic="in",
        partition=0,
        offset=offset,
        key=b"key",
        value=b"value",
        trace="at X",
    )


def test_letter_has_the_record_and_what_went_wrong(topics: bm.Topics) -> None:
    write_dead_letter(topics, "dead", failure())

    (letter,) = topics["dead"].read(0)
    assert (letter.key, letter.value, letter.timestamp) == (b"k", b"bad", 5)
    assert letter.headers == (
        ("from", b"mail"),
        ("__streams.errors.exception", b"BadBytes"),
        ("__streams.errors.message", b"no number"),
        ("__streams.errors.stacktrace", b"at X"),
        ("__streams.errors.topic", b"in"),
        ("__streams.errors.partition", b"0"),
        ("__streams.errors.offset", b"0"),
    )


def test_letter_is_written_once_however_often_the_record_fails(topics: bm.Topics) -> None:
    topics.create("dead", 3)
    topics["in"].append([bm.Record(None, b"bad, too", 6)])

    for _ in range(2):
        write_dead_letter(topics, "dead", failure(0))
        write_dead_letter(topics, "dead", failure(1))
    write_dead_letter(topics, "dead", failure(1, "something else"))

    letters = [letter for partition in range(3) for letter in topics["dead"].read(partition)]
    assert sorted(letter.value for letter in letters) == [b"bad", b"bad, too", b"bad, too"]


def test_record_that_was_removed_is_described_by_its_failure(topics: bm.Topics) -> None:
    write_dead_letter(topics, "dead", failure(77))

    (letter,) = topics["dead"].read(0)
    assert (letter.key, letter.value) == (b"key", b"value")
    assert dict(letter.headers)["__streams.errors.offset"] == b"77"


def test_letter_that_cannot_be_written_is_logged(topics: bm.Topics, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        write_dead_letter(topics, "no/name", failure())

    assert "could not be written to no/name" in caplog.text


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_few_skipped_records_are_logged_and_the_rest_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    log = SkippedLog("words", clock)
    errors = [ProcessingError("no", topic="in", partition=0, offset=n) for n in range(100)]

    with caplog.at_level(logging.WARNING):
        log.add(errors[:3])
        log.add(errors[3:])
        log.flush()
        log.flush()

    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 6
    assert lines[0].startswith(
        "words skipped a record. A record could not be processed at topic in, partition 0, offset 0: no."
    )
    assert lines[-1] == "words skipped 95 more records"


def test_count_of_logged_records_starts_over_each_second(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    log = SkippedLog("words", clock)

    with caplog.at_level(logging.WARNING):
        log.add([ProcessingError("no")] * 7)
        clock.now = 1.5
        log.add([])
        log.add([ProcessingError("no")])

    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 7
    assert lines[5] == "words skipped 2 more records"
    assert lines[6].startswith("words skipped a record.")

"""Skipped records are logged, a handful per second."""

from __future__ import annotations

import logging

import pytest

from brookmere.errors import ProcessingError
from brookmere.run.skipped_records import SkippedLog


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_handful_is_logged_and_the_rest_counted(caplog: pytest.LogCaptureFixture) -> None:
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


def test_each_second_starts_anew(caplog: pytest.LogCaptureFixture) -> None:
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

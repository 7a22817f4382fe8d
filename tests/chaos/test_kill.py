"""A process that is killed at random points and started again writes what an undisturbed one writes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import brookmere as bm
from tests.chaos.programs import CHANGELOGS, SINKS, SOURCE

_ROOT = Path(__file__).resolve().parents[2]
_RECORDS = 4000
_KILLS = int(os.environ.get("BROOKMERE_KILLS", "3"))
_DEADLINE = 240.0
"""Seconds after which a process that neither runs nor ends is given up."""

_WORDS = (
    "brook",
    "mere",
    "stream",
    "table",
    "window",
    "join",
    "task",
    "grace",
    "x",
    "offset",
    "topic",
    "late",
)


@pytest.mark.slow
def test_killed_applications_write_what_undisturbed_ones_write(tmp_path: Path) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    for home in (calm, killed):
        _fill(home)
    dice = random.Random(_KILLS)

    with _started(calm) as process:
        _await_line(process, "done")
    kills = 0
    finished = False
    while not finished:
        with _started(killed) as process:
            _await_line(process, "running")
            # The last start is left alone.
            if kills < _KILLS:
                finished = _ends_within(process, dice.uniform(0.0, 5.0))
                kills += 1
            else:
                _await_line(process, "done")
                finished = True

    for topic in (name for names in SINKS.values() for name in names):
        assert _log(killed, topic) == _log(calm, topic)
        assert sum(len(records) for records in _log(calm, topic)) > 0
    for topic in CHANGELOGS:
        assert _rows(killed, topic) == _rows(calm, topic)


def _fill(home: Path) -> None:
    dice = random.Random(7)
    topics = bm.Topics(home / "topics")
    source = topics.create(SOURCE, partitions=4)
    source.append(
        bm.Record(f"k{dice.randrange(50)}".encode(), " ".join(dice.choices(_WORDS, k=4)).encode(), time)
        for time in range(_RECORDS)
    )
    for name in (name for names in SINKS.values() for name in names):
        topics.create(name, partitions=3)


def _log(home: Path, topic: str) -> list[list[bm.Record]]:
    log = bm.Topics(home / "topics")[topic]
    return [list(log.read(partition)) for partition in range(log.partitions)]


def _rows(home: Path, topic: str) -> tuple[list[int], list[dict[bytes | None, bm.Record]]]:
    """Return how much was ever written to a changelog, and what of it compaction may not take away."""
    ends = bm.Topics(home / "topics")[topic].end_offsets()
    return ends, [{record.key: record for record in records} for records in _log(home, topic)]


@contextmanager
def _started(home: Path) -> Iterator[subprocess.Popen[str]]:
    """Start the victim as the leader of a group with its JVM, and end the whole group in any case."""
    with (home / "output.txt").open("a") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.victim", str(home)],
            cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            _kill(process)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()


def _kill(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _await_line(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    timer = threading.Timer(_DEADLINE, _kill, [process])
    timer.start()
    try:
        for found in process.stdout:
            if found.strip() == line:
                return
    finally:
        timer.cancel()
    pytest.fail(f"the process ended with {process.wait()} before it said {line!r}")


def _ends_within(process: subprocess.Popen[str], seconds: float) -> bool:
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False

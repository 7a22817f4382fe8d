"""A program goes on when processes that run its Python code are killed: nothing is lost or written twice."""

from __future__ import annotations

import os
import random
import signal
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from tests.chaos.process import Victim
from tests.chaos.programs import EVERY_UPDATE, SINKS, SOURCE
from tests.chaos.sentences import sentences

_RECORDS = 1000
_KILLS = int(os.environ.get("BROOKMERE_KILLS", "3"))
_DEADLINE = 60.0


@pytest.mark.slow
def test_killed_workers_lose_and_repeat_nothing(tmp_path: Path) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    for home in (calm, killed):
        _fill(home)
    dice = random.Random(_KILLS)

    with _running(killed, batch=100) as victim:
        victim.expect("batch")
        for _ in range(_KILLS):
            # Some are killed at work, some while they wait for the next batch.
            _feed(killed, 200)
            _kill_one(victim, dice)
            victim.expect("batch")
        victim.finish()
        victim.expect("done")
    _feed(calm, 200 * _KILLS)
    with _running(calm, batch=1000) as victim:
        victim.finish()
        victim.expect("done")

    for topic in SINKS["python_code"]:
        assert _log(killed, topic) == _log(calm, topic)
        assert sum(len(records) for records in _log(calm, topic)) > _RECORDS


def _running(home: Path, *, batch: int) -> Victim:
    return Victim(home / "output.txt", {"python_code": {**_settings(home), "max.batch.records": batch}})


def _kill_one(victim: Victim, dice: random.Random) -> None:
    deadline = time.monotonic() + _DEADLINE
    while not (workers := victim.workers()):
        assert time.monotonic() < deadline, "no process runs Python code"
        time.sleep(0.01)
    time.sleep(dice.uniform(0.0, 0.5))
    try:
        os.kill(dice.choice(workers), signal.SIGKILL)
    except ProcessLookupError:
        return


def _settings(home: Path) -> dict[str, Any]:
    return {
        "topics.dir": home / "topics",
        "state.dir": home / "state",
        "num.stream.threads": 2,
        # A process that lives for seconds is not worth the best code.
        "spark.driver.extraJavaOptions": "-Xss8m -XX:TieredStopAtLevel=1",
        **EVERY_UPDATE,
    }


def _fill(home: Path) -> None:
    topics = bm.Topics(home / "topics")
    topics.create(SOURCE, partitions=4)
    for name in SINKS["python_code"]:
        topics.create(name, partitions=3)
    _feed(home, _RECORDS)


def _feed(home: Path, count: int) -> None:
    """Let the next records come in."""
    topic = bm.Topics(home / "topics")[SOURCE]
    fed = sum(topic.end_offsets())
    topic.append(islice(sentences(), fed, fed + count))


def _log(home: Path, topic: str) -> list[list[bm.Record]]:
    log = bm.Topics(home / "topics")[topic]
    return [list(log.read(partition)) for partition in range(log.partitions)]

"""A process on embedded topics that is killed at random points writes what an undisturbed one writes."""

from __future__ import annotations

import os
import random
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from tests.chaos.process import Victim
from tests.chaos.programs import CHANGELOGS, EVERY_UPDATE, SINKS, SOURCE
from tests.chaos.sentences import sentences

_RECORDS = 4000
_KILLS = int(os.environ.get("BROOKMERE_KILLS", "3"))
_TOPICS = [topic for topics in SINKS.values() for topic in topics]


@pytest.mark.slow
def test_killed_applications_write_what_undisturbed_ones_write(tmp_path: Path) -> None:
    calm, killed = tmp_path / "calm", tmp_path / "killed"
    for home in (calm, killed):
        _fill(home)
    dice = random.Random(_KILLS)

    _run(calm)
    kills = 0
    finished = False
    while kills < _KILLS and not finished:
        with Victim(killed / "output.txt", _programs(killed)) as victim:
            victim.expect("running")
            victim.finish()
            time.sleep(dice.uniform(0.0, 5.0))
            victim.kill()
            finished = victim.line("done") is not None
        kills += 1
    if not finished:
        _run(killed)

    for topic in _TOPICS:
        assert _log(killed, topic) == _log(calm, topic)
        assert sum(len(records) for records in _log(calm, topic)) > 0
    for topic in CHANGELOGS:
        assert _rows(killed, topic) == _rows(calm, topic)


def _programs(home: Path) -> dict[str, dict[str, Any]]:
    """Return the programs with their settings: results come out per batch, or each update by itself."""
    settings = {
        "topics.dir": home / "topics",
        "state.dir": home / "state",
        "max.batch.records": 300,
        "num.stream.threads": 2,
    }
    return {
        "stateless": settings,
        "one_level": settings,
        "two_levels": {**settings, **EVERY_UPDATE},
        "windows_and_joins": {**settings, **EVERY_UPDATE},
        "python_code": {**settings, **EVERY_UPDATE},
    }


def _run(home: Path) -> None:
    with Victim(home / "output.txt", _programs(home)) as victim:
        victim.finish()
        victim.expect("done")


def _fill(home: Path) -> None:
    topics = bm.Topics(home / "topics")
    topics.create(SOURCE, partitions=4).append(islice(sentences(), _RECORDS))
    for name in _TOPICS:
        topics.create(name, partitions=3)


def _log(home: Path, topic: str) -> list[list[bm.Record]]:
    log = bm.Topics(home / "topics")[topic]
    return [list(log.read(partition)) for partition in range(log.partitions)]


def _rows(home: Path, topic: str) -> tuple[list[int], list[dict[bytes | None, bm.Record]]]:
    """Return how much was ever written to a changelog, and what of it compaction may not take away."""
    ends = bm.Topics(home / "topics")[topic].end_offsets()
    return ends, [{record.key: record for record in records} for records in _log(home, topic)]

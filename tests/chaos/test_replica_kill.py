"""A replica that is killed at random points ends up with the rows of one that was not."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from brookmere.state import Replica, StoreInfo
from brookmere.state.description.described import stores_to_json
from brookmere.state.description.store_file import read_stores
from tests.chaos.process import Victim
from tests.chaos.programs import SINKS, SOURCE
from tests.chaos.sentences import sentences

_ROOT = Path(__file__).resolve().parents[2]
_KILLS = 2 * int(os.environ.get("BROOKMERE_KILLS", "3"))
_APPLICATION_KILLS = 2
PROGRAMS = ("one_level", "windows_and_joins")
_PARTITIONS = 3
_DEADLINE = 60.0
_KEYS = 500
_BATCH = 400
INFOS = [
    StoreInfo("totals", "key_value", "totals", bm.Bytes(), bm.Bytes()),
    StoreInfo("windows", "window", "windows", bm.Bytes(), bm.Bytes(), window_ms=10, retention_ms=2000),
    StoreInfo("versions", "versioned", "versions", bm.Bytes(), bm.Bytes(), retention_ms=2000),
]


class Feeder:
    """Appends changes to changelogs without a pause, and compacts them now and then."""

    def __init__(self, topics: bm.Topics, dice: random.Random) -> None:
        self._dice = dice
        self._time = 0
        self._topics = {info.name: topics[info.topic] for info in INFOS}
        self.totals: dict[bytes, bytes] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._feed)

    def __enter__(self) -> Feeder:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        self._thread.join()

    def _feed(self) -> None:
        turn = 0
        while not self._over.is_set():
            for name in self._topics:
                self._append(name)
            turn += 1
            if turn % 10 == 0:
                self._topics["totals"].maintain(full=True)
            # Readers, too, are to get some of the processor.
            self._over.wait(0.01)

    def _append(self, name: str) -> None:
        records = []
        for _ in range(_BATCH):
            self._time += 1
            key = b"%d" % self._dice.randrange(_KEYS)
            value = None if self._dice.random() < 0.2 else b"%d" % self._time
            if name == "totals":
                self.totals.pop(key, None)
                if value is not None:
                    self.totals[key] = value
            windowed = key + (self._time // 10 * 10).to_bytes(8, "big") if name == "windows" else key
            records.append(bm.Record(windowed, value, self._time))
        self._topics[name].append(records)


@pytest.mark.slow
def test_a_killed_replica_has_the_rows_of_a_new_one(tmp_path: Path) -> None:
    dice = random.Random(_KILLS)
    topics = bm.Topics(tmp_path / "topics")
    for info in INFOS:
        lag = 0 if info.kind == "key_value" else 86_400_000
        topics.create(info.topic, _PARTITIONS, {"cleanup.policy": "compact", "min.compaction.lag.ms": lag})

    with Feeder(topics, dice) as feeder:
        for _ in range(_KILLS):
            _follow_and_kill(tmp_path, dice)

    old, new = (_contents(topics, tmp_path / name) for name in ("old", "new"))
    assert dict(old["totals"]) == feeder.totals
    assert old == new
    assert all(old.values())


@pytest.mark.slow
def test_replicas_of_a_killed_application_have_the_rows_of_its_own(tmp_path: Path) -> None:
    topics = bm.Topics(tmp_path / "topics")
    topics.create(SOURCE, partitions=4).append(islice(sentences(), 2000))
    for program in PROGRAMS:
        for name in SINKS[program]:
            topics.create(name, partitions=3)
    settings = {
        "topics.dir": tmp_path / "topics",
        "state.dir": tmp_path / "state",
        "max.batch.records": 200,
        "num.stream.threads": 2,
        # A process that lives for seconds is not worth the best code.
        "spark.driver.extraJavaOptions": "-Xss8m -XX:TieredStopAtLevel=1",
    }
    programs = dict.fromkeys(PROGRAMS, settings)

    for _ in range(_APPLICATION_KILLS):
        with Victim(tmp_path / "output.txt", programs, stores=True) as victim:
            victim.expect("running")
            # Another process follows meanwhile, and is there before and after the kill.
            with ExitStack() as stack:
                for replica in _replicas(tmp_path, topics, "old"):
                    stack.enter_context(replica)
                for _ in range(3):
                    victim.expect("batch")
                victim.kill()
    with Victim(tmp_path / "output.txt", programs, stores=True) as victim:
        victim.finish()
        own = json.loads(victim.expect("stores").removeprefix("stores "))
        victim.expect("done")

    assert own.keys() == {"chaos-one-words-changelog", "chaos-time-recent-changelog"}
    assert all(own.values())
    for name in ("old", "new"):
        assert _rows_of(_replicas(tmp_path, topics, name), topics) == own


def _replicas(home: Path, topics: bm.Topics, name: str) -> list[Replica]:
    """Return a replica of every application, by what it has told of its stores."""
    found = []
    for directory in sorted(path.parent for path in (home / "state").glob("*/stores.json")):
        stores = read_stores(directory)
        assert stores is not None
        found.append(Replica(directory.name, stores, topics, home / name / directory.name))
    return found


def _rows_of(replicas: list[Replica], topics: bm.Topics) -> dict[str, list[str]]:
    found = {}
    for replica in replicas:
        with replica:
            for info in replica.infos.values():
                ends = dict(enumerate(topics[info.topic].end_offsets()))
                store: Any = (
                    replica[info.name]
                    .at_least({info.topic: ends}, timedelta(seconds=_DEADLINE))
                    .wait(timedelta(seconds=_DEADLINE))
                )
                found[info.topic] = [repr(row) for row in store.all()]
    return found


def _follow_and_kill(home: Path, dice: random.Random) -> None:
    arguments = [str(home / "topics"), str(home / "old"), stores_to_json(INFOS)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.follower", *arguments],
        cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "following\n"
        time.sleep(dice.uniform(0.0, 0.4))
        process.kill()


def _contents(topics: bm.Topics, directory: Path) -> dict[str, list[Any]]:
    """Return all rows of a replica that has caught up; of versions with their history."""
    found: dict[str, list[Any]] = {}
    with Replica("chaos", INFOS, topics, directory) as replica:
        for info in INFOS:
            ends = dict(enumerate(topics[info.topic].end_offsets()))
            store: Any = (
                replica[info.name]
                .at_least({info.topic: ends}, timedelta(seconds=_DEADLINE))
                .wait(timedelta(seconds=_DEADLINE))
            )
            found[info.name] = list(store.all())
            if info.kind == "versioned":
                keys = (b"%d" % number for number in range(_KEYS))
                found["history"] = [tuple(version) for key in keys for version in store.versions(key)]
    return found

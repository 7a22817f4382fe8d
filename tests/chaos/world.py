"""Topics on Kafka for one test: what goes in, which programs read it, and what must have come out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import brookmere as bm
from brookmere.topics.kafka import KafkaTopics
from tests.chaos.process import Victim
from tests.chaos.programs import EVERY_UPDATE, PROGRAMS, SINKS, SOURCE
from tests.chaos.sentences import sentences

_SOURCE_PARTITIONS = 4
_SINK_PARTITIONS = 3

Log = dict[tuple[int, bytes | None], list[tuple[bytes | None, int]]]
"""Values and times by partition and key, in the order of the topic: records of one key are in order."""


class World:
    """The topics of some programs; `home` holds their state and what undisturbed ones write."""

    def __init__(self, servers: str, home: Path, programs: Iterable[str], prefix: str) -> None:
        self._servers = servers
        self.home = home
        self._prefix = prefix
        self.programs = tuple(programs)
        self._fed = 0
        self._sentences = sentences()
        self._topics = KafkaTopics({"bootstrap.servers": servers, "default.api.timeout.ms": "120000"})
        self._calm = bm.Topics(home / "calm")
        for topics in (self._topics, self._calm):
            topics.create(prefix + SOURCE, _SOURCE_PARTITIONS)
            for name in self.sinks:
                topics.create(name, _SINK_PARTITIONS)

    @property
    def sinks(self) -> list[str]:
        """The topics that are written."""
        return [self._prefix + topic for program in self.programs for topic in SINKS[program]]

    @property
    def fed(self) -> int:
        """How many records went in."""
        return self._fed

    def feed(self, count: int) -> None:
        """Let the next records come in."""
        records = list(islice(self._sentences, count))
        for topics in (self._calm, self._topics):
            topics[self._prefix + SOURCE].append(records)
        self._fed += count

    def settings(self, state: str = "state", **more: Any) -> dict[str, Any]:
        """Return the settings of a program whose state is in a directory of that name."""
        own = {name.replace("__", "."): value for name, value in more.items()}
        return {
            "bootstrap.servers": self._servers,
            "state.dir": self.home / state,
            "max.batch.records": 100,
            "num.stream.threads": 2,
            **EVERY_UPDATE,
            **own,
        }

    def application(self, program: str, state: str = "state", **more: Any) -> bm.Application:
        """Return one of the programs, to run in this process."""
        return bm.Application(PROGRAMS[program](self._prefix), self.settings(state, **more))

    def victim(self, state: str = "state", halts: str | None = None, **more: Any) -> Victim:
        """Start a process that runs all programs; `halts` says where it ends or fails by itself."""
        # A process that lives for seconds is not worth the best code.
        java = "-Xss8m -XX:TieredStopAtLevel=1" + (f" -Dbrookmere.halts={halts}" if halts else "")
        settings = self.settings(state, spark__driver__extraJavaOptions=java, **more)
        return Victim(self.home / f"{state}.txt", dict.fromkeys(self.programs, settings), self._prefix)

    def check(self) -> None:
        """Compare what is committed in the topics with what undisturbed programs write."""
        settings = {
            "topics.dir": self.home / "calm",
            "state.dir": self.home / "calm-state",
            "changelog.disabled": "all",
            **EVERY_UPDATE,
        }
        for program in self.programs:
            with bm.Application(PROGRAMS[program](self._prefix), settings) as application:
                application.process_all_available()
        for name in self.sinks:
            expected, found = self._log(self._calm, name), self._log(self._topics, name)
            assert expected
            assert _faults(expected, found) == []

    def _log(self, topics: bm.Topics | KafkaTopics, name: str) -> Log:
        log: Log = defaultdict(list)
        topic = topics[name]
        # From which partition a count hears first is free, and with it its time, but not its value.
        timed = not name.endswith("words")
        for partition in range(topic.partitions):
            for record in topic.read(partition):
                log[partition, record.key].append((record.value, record.timestamp if timed else 0))
        return dict(log)


def _faults(expected: Log, found: Log) -> list[str]:
    """Return what is lost, written twice or out of order, by partition and key."""
    faults = []
    for place in sorted(expected.keys() | found.keys(), key=str):
        wanted, got = expected.get(place, []), found.get(place, [])
        if wanted != got:
            at = next((n for n, (a, b) in enumerate(zip(wanted, got, strict=False)) if a != b), len(wanted))
            faults.append(
                f"{place}: {len(got)} records instead of {len(wanted)}, other ones from the {at}th on: "
                f"{got[at : at + 3]} instead of {wanted[at : at + 3]}"
            )
    return faults

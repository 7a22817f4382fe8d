"""The contestants, and the child process that runs a program for each."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kafka.kinds import GRACE_MS, WINDOW_MS
from benchmarks.kafka.processes import Child
from benchmarks.kafka.streams import run_command
from benchmarks.kafka.workloads import Workload
from brookmere.jars import resolve

MEMORY = "2g"
"""The heap of each contestant's JVM."""
THREADS = 2
_HELD_MS = 900_000
"""How long a paused contestant of Kafka Streams stays a member of its group."""

_STREAMS = {
    "projection": "projection",
    "words": "word-count",
    "keys": "count",
    "join": "join",
    "windows": "tumbling",
}


@dataclass(frozen=True, slots=True)
class Contestant:
    """Who runs the programs, and with which guarantee."""

    short: str
    name: str
    guarantee: str

    @property
    def is_streams(self) -> bool:
        """Return whether it is Kafka Streams."""
        return self.short.startswith("streams")

    @property
    def commits_late(self) -> bool:
        """Return whether results may be held back for half a minute, which does not count as work."""
        return self.is_streams and self.guarantee == "at_least_once"

    def processed(self, workload: Workload, loads: int) -> int:
        """Return how many records it reports as processed when it has finished this many loads."""
        records = loads * workload.records
        if self.is_streams:
            # The words go through a repartition topic and are processed again after it.
            return records + len(workload.table) + workload.words(loads)
        return records + (len(workload.table) if self.short == "brookmere" else 0)


RIVAL = Contestant("streams-eos", "Kafka Streams, exactly_once_v2", "exactly_once_v2")
OWN = Contestant("brookmere", "Brookmere, exactly_once_v2", "exactly_once_v2")
CONTESTANTS = (
    RIVAL,
    OWN,
    Contestant("streams-alo", "Kafka Streams, at_least_once", "at_least_once"),
    Contestant("pyspark", "PySpark, at least once", "at_least_once"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a contestant reads and writes."""

    servers: str
    application: str
    source: str
    table: str
    out: str
    directory: Path
    """The directory for its state and its log."""


def launch(contestant: Contestant, workload: Workload, place: Place) -> Child:
    """Start a contestant on a program."""
    place.directory.mkdir(parents=True)
    if contestant.is_streams:
        command = _streams(contestant, workload, place)
    elif contestant.short == "brookmere":
        command = _python("benchmarks.kafka.own", workload, _own(contestant, place))
    else:
        command = _python("benchmarks.kafka.native", workload, _native(place))
    return Child(f"{contestant.name}, {workload.name}", command, place.directory / "log")


def _python(module: str, workload: Workload, given: dict[str, object]) -> list[str]:
    return [sys.executable, "-m", module, workload.kind, json.dumps(given)]


def _own(contestant: Contestant, place: Place) -> dict[str, object]:
    return {
        "application": place.application,
        "in": place.source,
        "table": place.table,
        "out": place.out,
        "settings": {
            "bootstrap.servers": place.servers,
            "state.dir": str(place.directory / "state"),
            "processing.guarantee": contestant.guarantee,
            "num.stream.threads": THREADS,
            "spark.driver.memory": MEMORY,
            # A paused process must not consider itself lost.
            "spark.network.timeout": "3600s",
        },
    }


def _native(place: Place) -> dict[str, object]:
    return {
        "servers": place.servers,
        "in": place.source,
        "table": place.table,
        "out": place.out,
        "checkpoint": str(place.directory / "checkpoint"),
        "memory": MEMORY,
        "jars": [str(jar) for jar in resolve("spark-kafka")],
    }


def _streams(contestant: Contestant, workload: Workload, place: Place) -> list[str]:
    settings = {
        "application.id": place.application,
        "bootstrap.servers": place.servers,
        "state.dir": str(place.directory / "state"),
        "processing.guarantee": contestant.guarantee,
        "num.stream.threads": str(THREADS),
        "consumer.isolation.level": "read_committed",
        "main.consumer.session.timeout.ms": str(_HELD_MS),
        "main.consumer.max.poll.interval.ms": str(_HELD_MS),
        "program.in": place.source,
        "program.table": place.table,
        "program.out": place.out,
        "program.size.ms": str(WINDOW_MS),
        "program.grace.ms": str(GRACE_MS),
    }
    return run_command(_STREAMS[workload.kind], settings, place.directory, flags=(f"-Xmx{MEMORY}",))

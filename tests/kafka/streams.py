"""Runs programs with the real Kafka Streams beside Brookmere, and shows what either wrote."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import brookmere as bm
from benchmarks.kafka.processes import Child
from benchmarks.kafka.streams import keys_command, run_command
from brookmere.topics.kafka import KafkaTopics
from tests.kafka.feeds import PARTITIONS

_PATIENCE = 120.0
_JVM = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

Written = tuple[bytes | None, bytes | None, int, tuple[tuple[str, bytes | None], ...]]
"""Key, value, time and headers."""


@dataclass(frozen=True, slots=True)
class Sides:
    """A broker, a directory, and the two that run programs on it; every update comes out of both."""

    topics: KafkaTopics
    directory: Path

    def fill(self, topic: str, records: Sequence[bm.Record], partitions: int = PARTITIONS) -> None:
        """Create a topic with records: those with a key lie in its partition, by Kafka's rule."""
        self.topics.create(topic, partitions, {"retention.ms": -1})
        self.topics[topic].append(records)

    def streams(self, program: str, application: str, given: Mapping[str, str], *, records: int) -> None:
        """Run a program with Kafka Streams until it has processed so many records and committed the results.

        `given` are the settings of the program; records of a repartition topic are processed, too.
        """
        home = self.directory / application
        settings = {
            "application.id": application,
            "bootstrap.servers": self.topics.bootstrap_servers,
            "state.dir": str(home / "state"),
            "processing.guarantee": "exactly_once_v2",
            "statestore.cache.max.bytes": "0",
            **{f"program.{name}": value for name, value in given.items()},
        }
        command = run_command(program, settings, home, flags=_JVM)
        with Child(application, command, home / "log") as child:
            wait_until(lambda: child.processed >= records, child.check)
            # Its end commits what it has done.
            child.stop()
            assert child.processed == records

    def brookmere(self, program: bm.StreamsBuilder) -> None:
        """Run a program with Brookmere until it has processed what there is."""
        settings = {
            "bootstrap.servers": self.topics.bootstrap_servers,
            "state.dir": str(self.directory / "brookmere"),
            "processing.guarantee": "exactly_once_v2",
            "statestore.cache.max.bytes": "0",
        }
        with bm.Application(program, settings) as application:
            application.process_all_available()

    def written(self, topic: str) -> list[list[Written]]:
        """Return what is committed in each partition of a topic, in order."""
        found = self.topics[topic]
        return [
            [(record.key, record.value, record.timestamp, record.headers) for record in found.read(partition)]
            for partition in range(found.partitions)
        ]

    def keys(self, kind: str, direction: str, lines: Sequence[str]) -> list[str]:
        """Turn windowed keys into bytes or back with Kafka Streams' own serialisers."""
        command = keys_command(kind, direction, self.directory / "keys")
        done = subprocess.run(
            command, input="\n".join(lines), capture_output=True, text=True, check=True, timeout=_PATIENCE
        )
        return done.stdout.splitlines()


def wait_until(is_true: Callable[[], bool], check: Callable[[], None] = lambda: None) -> None:
    """Wait for something, but not for ever; `check` may tell earlier that it will not come."""
    deadline = time.monotonic() + _PATIENCE
    while not is_true():
        check()
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.05)

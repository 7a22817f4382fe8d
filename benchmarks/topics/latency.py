"""Latency: the time from appending a record to its result in the output topic."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

import brookmere as bm
from benchmarks.topics.cases import Case, Engine
from benchmarks.topics.filling import PARTITIONS
from benchmarks.topics.queries import Running, start
from benchmarks.topics.workloads import Workload
from brookmere.topics import Topic

_KEYS = 100
_POLL = 0.001
ENGINES: tuple[Engine, ...] = ("PySpark", "Brookmere")


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from appending a record to its count in the output topic."""

    engine: Engine
    times: list[float] = field(default_factory=list)

    @property
    def p50(self) -> float:
        """The median."""
        return median(self.times)

    @property
    def p95(self) -> float:
        """The 95th percentile."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]

    @property
    def least(self) -> float:
        """The minimum."""
        return min(self.times)


@dataclass(frozen=True, slots=True)
class LatencyBench:
    """A session and a directory to measure in: `warm_up` records precede `measured` ones."""

    session: SparkSession
    directory: Path
    warm_up: int
    measured: int
    _numbers: count[int] = field(default_factory=count)

    def measure(self, rounds: int, tell: Callable[[str], None]) -> list[Latency]:
        """Measure all engines in turn, `rounds` times, every other round in reverse order.

        Raises:
            QueryFailedError: a query failed or took too long.
        """
        found = {engine: Latency(engine) for engine in ENGINES}
        for number in range(rounds):
            for engine in ENGINES if number % 2 == 0 else reversed(ENGINES):
                tell(f"topics  one record at a time  round {number + 1}  {engine}")
                found[engine].times.extend(self._run(engine))
        return list(found.values())

    def _run(self, engine: Engine) -> list[float]:
        home = self.directory / f"latency-{next(self._numbers)}"
        topics = bm.Topics(home / "topics")
        case = Case(Workload("keys", rows=1, keys=_KEYS), engine)
        source = topics.create(case.workload.topic, partitions=PARTITIONS)
        out = topics.create("out", partitions=PARTITIONS)
        running = start(
            case,
            session=self.session,
            topics=topics.directory,
            out=out.name,
            checkpoint=home / "checkpoint",
            limit=0,
        )
        try:
            times = [_once(running, source, out, n) for n in range(self.warm_up + self.measured)]
        finally:
            running.stop()
            shutil.rmtree(home, ignore_errors=True)
        return times[self.warm_up :]


def _once(running: Running, source: Topic, out: Topic, number: int) -> float:
    """Return the milliseconds until an idle query's next record appears in `out`."""
    before = sum(out.end_offsets())
    began = time.perf_counter()
    source.append([bm.Record(b"k%d" % (number % _KEYS), b"value", -1)])
    running.wait(lambda: sum(out.end_offsets()) > before, poll=_POLL)
    elapsed = time.perf_counter() - began
    running.handle.processAllAvailable()
    return elapsed * 1000

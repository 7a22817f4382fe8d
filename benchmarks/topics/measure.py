"""Measures a case: runs it over its topic and reads clocks between the batches."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import brookmere as bm
from benchmarks.clock import cpu_clock
from benchmarks.topics.cases import Case
from benchmarks.topics.check import check
from benchmarks.topics.filling import PARTITIONS
from benchmarks.topics.loop import Loop
from benchmarks.topics.queries import Running, start
from brookmere.topics import Topic

_POLL = 0.002


@dataclass(frozen=True, slots=True)
class Batch:
    """The numbers of one batch."""

    rows: int
    elapsed_ms: float
    cpu_ns: int
    exchanged: int = 0
    """Rows that went through exchanges."""
    state_ns: int = 0
    """CPU time of writing changes to the state store."""
    commit_ms: int = 0
    """Elapsed time of the commits of the state stores, summed over tasks."""


@dataclass(frozen=True, slots=True)
class Run:
    """The measured batches of a case, and the number of records that all its batches have written."""

    batches: list[Batch]
    read: int
    written: int


@dataclass(frozen=True, slots=True)
class Bench:
    """A session and a directory of filled topics to measure in."""

    session: SparkSession
    directory: Path
    warm_up: int
    measured: int
    _numbers: count[int] = field(default_factory=count)

    @property
    def batches(self) -> int:
        """The number of batches that the topics must hold."""
        return self.warm_up + self.measured

    @property
    def topics(self) -> bm.Topics:
        """The filled topics."""
        return bm.Topics(self.directory / "topics")

    def run(self, case: Case) -> Run:
        """Run a case from an empty state, and check what it wrote.

        Raises:
            QueryFailedError: the query failed or took too long.
            WrongResultError: the results in its topic are wrong.
        """
        number = next(self._numbers)
        # A new name for each run: the JVM remembers topics by name.
        out = self.topics.create(f"out-{number}", partitions=PARTITIONS)
        checkpoint = self.directory / f"checkpoint-{number}"
        try:
            batches = (
                self._loop(case, out)
                if case.engine == "Python loop"
                else self._query(case, out.name, checkpoint)
            )
            read = self.batches * case.workload.rows
            return Run(batches, read, check(case, out, read))
        finally:
            self.topics.delete(out.name)
            shutil.rmtree(checkpoint, ignore_errors=True)

    def _loop(self, case: Case, out: Topic) -> list[Batch]:
        loop = Loop(case.workload, self.topics[case.workload.topic], out, self.batches)
        found = []
        for number in range(self.batches):
            began, cpu = time.perf_counter_ns(), time.process_time_ns()
            rows = loop.step(number)
            elapsed, used = time.perf_counter_ns() - began, time.process_time_ns() - cpu
            found.append(Batch(rows, elapsed / 1_000_000, used))
        return found[self.warm_up :]

    def _query(self, case: Case, out: str, checkpoint: Path) -> list[Batch]:
        running = start(
            case,
            session=self.session,
            topics=self.topics.directory,
            out=out,
            checkpoint=checkpoint,
            limit=case.workload.rows,
        )
        try:
            marks = self._watch(running, checkpoint)
            running.handle.processAllAvailable()
            progress: dict[int, Any] = {
                p.batchId: p for p in running.handle.recentProgress if p.numInputRows > 0
            }
        finally:
            self._end(running)
        numbers = range(self.warm_up, self.batches)
        return [
            _batch(before, after, progress[n])
            for n, (before, after) in zip(numbers, pairwise(marks), strict=True)
        ]

    def _watch(self, running: Running, checkpoint: Path) -> list[_Mark]:
        """Return the clock readings at the end of the warm-up and of each measured batch.

        A batch ends when its commit is in the checkpoint. Checking for that file costs the JVM nothing.
        """
        clock = _cpu(self.session)
        marks = []
        for number in range(self.warm_up - 1, self.batches):
            running.wait((checkpoint / "commits" / str(number)).exists, poll=_POLL)
            marks.append(_Mark(clock(), *running.exchanged()))
        return marks

    def _end(self, running: Running) -> None:
        running.stop()
        # Each case starts with a clean heap, after the previous case's state stores have shut down.
        jvm: Any = self.session._jvm
        jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()
        jvm.java.lang.System.gc()


@dataclass(frozen=True, slots=True)
class _Mark:
    cpu_ns: int
    exchanged: int
    state_ns: int


def _cpu(session: SparkSession) -> Callable[[], int]:
    """Return the CPU time of the JVM and of this process, minus that of the watching thread."""
    jvm = cpu_clock(session)
    return lambda: jvm() + time.process_time_ns() - time.thread_time_ns()


def _batch(before: _Mark, after: _Mark, progress: Any) -> Batch:
    return Batch(
        rows=progress.numInputRows,
        elapsed_ms=progress.durationMs["triggerExecution"],
        cpu_ns=after.cpu_ns - before.cpu_ns,
        exchanged=after.exchanged - before.exchanged,
        state_ns=after.state_ns - before.state_ns,
        commit_ms=sum(operator.commitTimeMs for operator in progress.stateOperators),
    )

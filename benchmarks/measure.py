"""Measures a case: runs its query for some batches and reads clocks between them."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.clock import cpu_clock
from benchmarks.failures import QueryFailedError

_PATIENCE = 300.0
_POLL = 0.01

Times = list[list[int]]
"""[ns processing, ns writing state, rows] of Brookmere's stages from 1, over all tasks, since the start."""

Sink = Callable[[DataFrame, int], None]


class Case(Protocol):
    """A frozen dataclass that describes what to run, one per contestant."""

    @property
    def name(self) -> str:
        """The name shown to people."""

    @property
    def direct(self) -> bool:
        """Whether it writes directly to Spark's noop sink instead of through foreachBatch."""


class Feed(Protocol):
    """The input of a case."""

    @property
    def keys(self) -> int:
        """The number of keys."""

    @property
    def rows(self) -> int:
        """The number of records per batch, over all topics."""

    @property
    def fill(self) -> int:
        """The number of batches after which the state knows every key."""


@dataclass(frozen=True, slots=True)
class Running:
    """A started query, and its stage times if it is one of Brookmere's."""

    handle: StreamingQuery
    stop: Callable[[], None]
    stage_times: Callable[[], Times]
    written: Callable[[], int] = lambda: 0
    """The number of rows that Brookmere's sinks have received since the start."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The numbers of one micro-batch."""

    number: int
    cpu_ns: int
    trigger_ms: int
    add_ms: int
    commit_ms: int
    """Of the state stores, summed over tasks."""
    stages: Times


@dataclass(frozen=True, slots=True)
class Run:
    """The measured batches of a query, and the number and facts of the batch after them."""

    batches: list[Batch]
    checked: tuple[int, Any]
    written: int
    """The number of rows that Brookmere's sinks have received, in all batches and in that one."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A session to measure in. At least `warm_up` batches are run before `measured` ones."""

    session: SparkSession
    warm_up: int
    measured: int
    start: Callable[..., Running]
    """Starts a case on a feed, into a sink; `session` and `checkpoint` are named."""
    found: Callable[[Any, DataFrame], Any]
    """Returns the facts about a case's output in a batch. It reads the rows once."""

    def run(self, case: Case, feed: Feed) -> Run:
        """Run a case from an empty state.

        Raises:
            QueryFailedError: the query failed or took too long.
        """
        checkpoint = Path(tempfile.mkdtemp(prefix="brookmere-bench-"))
        # The measured batches use keys that the state already knows.
        first = max(self.warm_up, feed.fill)
        last = first + self.measured
        try:
            probe = _Probe(case, self.found, cpu_clock(self.session), last)
            self._watch(case, feed, probe, checkpoint)
            batches = probe.batches(range(first, last))
            if case.direct:
                # Its output is discarded, so a query on the same state shows the next batch.
                shown: Any = case
                probe = _Probe(replace(shown, direct=False), self.found, lambda: 0, 0)
                self._watch(probe.case, feed, probe, checkpoint)
            assert probe.checked is not None, "a query is done when its output was checked"
            return Run(batches, probe.checked, probe.written)
        finally:
            shutil.rmtree(checkpoint, ignore_errors=True)

    def _watch(self, case: Case, feed: Feed, probe: _Probe, checkpoint: Path) -> None:
        running = self.start(case, feed, probe.sink, session=self.session, checkpoint=checkpoint)
        probe.running = running
        deadline = time.monotonic() + _PATIENCE
        try:
            while not probe.done.wait(_POLL if case.direct else 1.0):
                if case.direct:
                    probe.poll()
                if not running.handle.isActive or time.monotonic() > deadline:
                    error = running.handle.exception()
                    raise QueryFailedError(
                        f"{case.name} at {feed.keys} keys: {error or 'it does not finish'}"
                    )
            probe.written = running.written()
            recent = running.handle.recentProgress
            probe.progress = {p.batchId: p for p in recent if p.numInputRows == feed.rows}
        finally:
            self._end(case, running)

    def _end(self, case: Case, running: Running) -> None:
        # Stopping a query in the middle of a batch, which only our own sink can avoid, logs errors.
        if case.direct:
            self.session.sparkContext.setLogLevel("OFF")
        running.stop()
        # Each case starts with a clean heap, after the previous case's state stores have shut down.
        jvm: Any = self.session._jvm
        jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()
        jvm.java.lang.System.gc()
        self.session.sparkContext.setLogLevel("ERROR")


@dataclass(slots=True)
class _Probe:
    """The sink of a measured query. It reads the clocks when a batch arrives, the end of the previous one."""

    case: Case
    found: Callable[[Any, DataFrame], Any]
    cpu: Callable[[], int]
    last: int
    running: Running | None = None
    done: threading.Event = field(default_factory=threading.Event)
    checked: tuple[int, Any] | None = None
    written: int = 0
    progress: dict[int, Any] = field(default_factory=dict)
    _marks: dict[int, tuple[int, Times]] = field(default_factory=dict)

    def sink(self, rows: DataFrame, batch: int) -> None:
        self._mark(batch)
        if batch < self.last:
            rows.write.format("noop").mode("overwrite").save()
            return
        self.checked = batch, self.found(self.case, rows)
        self.done.set()
        # Holds the query between two batches until it is stopped.
        deadline = time.monotonic() + _PATIENCE
        while (self.running is None or self.running.handle.isActive) and time.monotonic() < deadline:
            time.sleep(_POLL)

    def poll(self) -> None:
        """Do what `sink` does, for a query with Spark's own sink."""
        assert self.running is not None
        handle: Any = self.running.handle
        progress = handle._jsq.lastProgress()
        if progress is not None and progress.batchId() + 1 not in self._marks:
            self._mark(progress.batchId() + 1)
            if progress.batchId() + 1 >= self.last:
                self.done.set()

    def _mark(self, batch: int) -> None:
        self._marks[batch] = self.cpu(), self.running.stage_times() if self.running else []

    def batches(self, numbers: range) -> list[Batch]:
        # On a busy machine a poll can come too late for a short batch.
        marked = [n for n in numbers if n in self._marks and n + 1 in self._marks]
        return [_batch(n, self._marks[n], self._marks[n + 1], self.progress[n]) for n in marked]


def _batch(number: int, before: tuple[int, Times], after: tuple[int, Times], progress: Any) -> Batch:
    stages = [
        [new - old for new, old in zip(late, early, strict=True)]
        for late, early in zip(after[1], before[1], strict=True)
    ]
    return Batch(
        number=number,
        cpu_ns=after[0] - before[0],
        trigger_ms=progress.durationMs["triggerExecution"],
        add_ms=progress.durationMs["addBatch"],
        commit_ms=sum(operator.commitTimeMs for operator in progress.stateOperators),
        stages=stages,
    )

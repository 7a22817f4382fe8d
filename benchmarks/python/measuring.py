"""Measures how fast a contestant works through a backlog of records.

Every record has one result, so the end of the output topic shows a contestant's progress. The clock runs
from the first results after a warm-up until all are there, or for some seconds: slow contestants need
not finish. CPU time is that of all processes of the contestant in the same interval.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.failures import QueryFailedError
from benchmarks.kafka.cluster import Cluster
from benchmarks.kafka.processes import Child
from benchmarks.python.contestants import Contestant, launch, out_topic
from benchmarks.python.workloads import Workload

_POLL = 0.05
_PATIENCE = 180.0
_PAUSE = 60.0
"""How long a contestant may go without a result."""


@dataclass(frozen=True, slots=True)
class Result:
    """The measurements of a contestant on a program."""

    contestant: Contestant
    workload: Workload
    started: float
    """Seconds from the launch to the first result."""
    records: int
    """The number of measured records."""
    seconds: float
    cpu: float
    written: int
    """The total number of results, all of them checked."""

    @property
    def per_second(self) -> float:
        """Records per second, on two cores shared with the broker."""
        return self.records / self.seconds

    @property
    def per_cpu_second(self) -> float:
        """Records per second of CPU time."""
        return self.records / self.cpu


@dataclass(frozen=True, slots=True)
class _Moment:
    time: float
    results: int
    cpu: float


def measure(
    cluster: Cluster, contestant: Contestant, workload: Workload, home: Path, warm: float, seconds: float
) -> Result:
    """Run a contestant on its own, and check what it wrote.

    Raises:
        WrongResultError: it wrote wrong results.
        QueryFailedError: it ended, or wrote nothing.
    """
    out = out_topic(contestant, workload)
    cluster.create(out)
    with ExitStack() as stack:
        began = time.time()
        children = launch(contestant, workload, cluster.servers, home)
        for child in children:
            stack.enter_context(child)
        moments = _Moments(cluster, out, children)
        first = moments.next(_PATIENCE)
        begin = first
        while begin.time < first.time + warm and begin.results < workload.records // 4:
            begin = moments.next(_PAUSE)
        # A contestant that finishes few records at once is measured including its start.
        end, begin = (begin, _Moment(began, 0, 0.0)) if begin.results >= workload.records else (begin, begin)
        while end is begin or (end.results < workload.records and end.time < begin.time + seconds):
            end = moments.next(_PAUSE)
    return Result(
        contestant,
        workload,
        first.time - began,
        end.results - begin.results,
        end.time - begin.time,
        end.cpu - begin.cpu,
        workload.check(cluster, out),
    )


class _Moments:
    """When results have arrived, how many there are, and what they have cost."""

    def __init__(self, cluster: Cluster, out: str, children: list[Child]) -> None:
        self._cluster = cluster
        self._out = out
        self._children = children
        self._results = 0

    def next(self, patience: float) -> _Moment:
        """Wait until there are more results."""
        deadline = time.time() + patience
        while True:
            found = sum(self._cluster.ends(self._out))
            now = time.time()
            if found > self._results:
                self._results = found
                return _Moment(now, found, sum(child.cpu_seconds() for child in self._children))
            for child in self._children:
                child.check()
            if now > deadline:
                name = self._children[0].name
                raise QueryFailedError(f"{name}: {found:,} results, and no more within {patience:.0f} s")
            time.sleep(_POLL)

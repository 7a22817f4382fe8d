"""Throughput: how fast each contestant works through the same records.

The speed of a program must not depend on how fast another process writes to its topic, on two cores that
both share. So a load of records is written beforehand, in a transaction that no contestant can read: all read
only committed records. Its commit reveals all of them at once, and costs next to nothing. The clock runs
from the commit until the last result is committed: until the last stable offset of the output topic, polled
every 20 ms, moves for the last time.

Each contestant has its own topics with the same records, because a load can be revealed only once. It is
started in its own process, works through a first load, which gives the numbers of a cold start and warms it
up, and then runs until the end. While another one has its turn, it is paused with SIGSTOP, so it takes no
part of the two cores.

Kafka Streams with at_least_once commits every 30 seconds, and holds counts back until then. So that this
wait does not count as work, its clock runs until it has processed the last record; the results in its cache
follow with the commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.failures import QueryFailedError
from benchmarks.kafka.check import check
from benchmarks.kafka.cluster import Cluster, Gate
from benchmarks.kafka.contestants import Contestant, Place, launch
from benchmarks.kafka.processes import Child, cpu_seconds
from benchmarks.kafka.workloads import PARTITIONS, START, Workload

Tell = Callable[[str], None]

_POLL = 0.02
_QUIET = 0.7
"""How long nothing may follow the last result; longer than any commit interval but one."""
_SETTLE = 1.0
_PATIENCE = 300.0


@dataclass(frozen=True, slots=True)
class Cold:
    """Seconds from the launch of a process to its first and its last result of the first load."""

    first: float
    last: float


@dataclass(frozen=True, slots=True)
class Drain:
    """One load that a warm contestant worked through: elapsed seconds, and CPU seconds."""

    seconds: float
    cpu: float
    broker_cpu: float
    batches: list[dict[str, float]] = field(default_factory=list)
    """Records and seconds of each phase, for each batch, from contestants that report it."""


@dataclass(slots=True)
class Result:
    """The measurements of a contestant on a program."""

    contestant: Contestant
    workload: Workload
    cold: Cold | None = None
    drains: list[Drain] = field(default_factory=list)
    written: int = 0
    """The number of records in the output topic, after all loads."""

    @property
    def best(self) -> Drain:
        """The fastest load."""
        return min(self.drains, key=lambda drain: drain.seconds)

    @property
    def per_second(self) -> float:
        """Records per second of the best load."""
        return self.workload.records / self.best.seconds

    @property
    def cpu_per_million(self) -> float:
        """CPU seconds per million records, of the cheapest load."""
        return min(drain.cpu for drain in self.drains) / self.workload.records * 1e6

    @property
    def broker_cpu_per_million(self) -> float:
        """CPU seconds of the broker per million records, of the cheapest load."""
        return min(drain.broker_cpu for drain in self.drains) / self.workload.records * 1e6

    @property
    def written_per_record(self) -> float:
        """The number of results per record read, over all loads."""
        return self.written / (self.workload.records * (len(self.drains) + 1))


class Lane:
    """A contestant on a program: its topics, its process, and its measurements."""

    def __init__(
        self, cluster: Cluster, contestant: Contestant, workload: Workload, home: Path, broker: int
    ) -> None:
        self.result = Result(contestant, workload)
        self.cluster = cluster
        name = f"{workload.kind}-{contestant.short}"
        self.place = Place(
            cluster.servers, name, f"{name}.in", f"{workload.kind}.table", f"{name}.out", home / name
        )
        self._broker = broker
        self._loads = 0
        cluster.create(self.place.source, self.place.out)
        self._gate = Gate(cluster, self.place.source)
        self._fill()
        self._gate.show()
        self.child: Child | None = None

    def start(self, stack: ExitStack) -> None:
        """Launch the process, wait until it has finished the first load, and pause it."""
        result = self.result
        self.child = stack.enter_context(launch(result.contestant, result.workload, self.place))
        first, last = self._wait(self.child, [0] * PARTITIONS)
        launched = self.child.launched
        result.cold = Cold(first - launched, last - launched)
        self.child.hold()

    def drain(self) -> Drain:
        """Reveal another load to the process and measure it; then pause it again."""
        child = self._running()
        self._fill()
        child.release()
        time.sleep(_SETTLE)
        before, batches = self.cluster.ends(self.place.out), len(child.batches)
        cpu, broker = child.cpu_seconds(), cpu_seconds(self._broker)
        began = time.time()
        self._gate.show()
        _, last = self._wait(child, before)
        found = Drain(
            last - began,
            child.cpu_seconds() - cpu,
            cpu_seconds(self._broker) - broker,
            child.batches[batches:],
        )
        child.hold()
        self.result.drains.append(found)
        return found

    def finish(self) -> None:
        """Stop the process, and check everything it wrote.

        Raises:
            WrongResultError: it wrote wrong results.
        """
        self._running().stop()
        self.check()

    def check(self) -> None:
        """Check everything the process wrote; those that commit late have to be stopped first."""
        result = self.result
        out = self.place.out
        result.written = check(self.cluster, out, result.contestant, result.workload, self._loads)

    def remove(self) -> None:
        """Delete the topics, including those that the program created for itself."""
        internal = self.cluster.internal(self.place.application)
        self.cluster.delete(self.place.source, self.place.out, *internal)

    def _running(self) -> Child:
        assert self.child is not None, "a lane is started before it is used"
        return self.child

    def _fill(self) -> None:
        self._gate.fill(self.result.workload.load(self._loads))
        self._loads += 1

    def _wait(self, child: Child, ends: list[int]) -> tuple[float, float]:
        """Return when the first and the last result of a load appeared, in seconds since 1970."""
        contestant = self.result.contestant
        wanted = contestant.processed(self.result.workload, self._loads)
        deadline = time.monotonic() + _PATIENCE
        first = last = 0.0
        while True:
            now, found = time.time(), self.cluster.ends(self.place.out)
            if found != ends:
                ends, last = found, now
                first = first or now
            if child.processed >= wanted:
                if contestant.commits_late:
                    return first or child.processed_at, child.processed_at
                if last and now - max(last, child.processed_at) > _QUIET:
                    return first, last
            child.check()
            if time.monotonic() > deadline:
                raise QueryFailedError(
                    f"{child.name}: {child.processed:,} of {wanted:,} records within {_PATIENCE:.0f} s"
                )
            time.sleep(_POLL)


def fill_table(cluster: Cluster, workload: Workload) -> None:
    """Write the table that a program joins, older than all records; the contestants share it."""
    if workload.table:
        name = f"{workload.kind}.table"
        cluster.create(name)
        cluster.rows(name, workload.table, START - 1000)

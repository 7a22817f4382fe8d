"""Measures programs from Kafka to Kafka."""

from __future__ import annotations

import shutil
import tempfile
from argparse import Namespace
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from benchmarks.kafka.cluster import Cluster
from benchmarks.kafka.contestants import CONTESTANTS, MEMORY, THREADS
from benchmarks.kafka.cores import share_cores
from benchmarks.kafka.goals import goals
from benchmarks.kafka.latency import KINDS as WITH_LATENCY
from benchmarks.kafka.latency import Latency, measure
from benchmarks.kafka.report import Report
from benchmarks.kafka.streams import class_path
from benchmarks.kafka.throughput import Lane, fill_table
from benchmarks.kafka.workloads import PARTITIONS, Workload, workloads
from brookmere.broker import Broker
from brookmere.kernel.build import kernel_jar

Tell = Callable[[str], None]


def run(options: Namespace, tell: Tell) -> Report:
    """Start a broker, measure all programs on it one after another, and remove everything.

    Raises:
        WrongResultError: a contestant produced wrong results.
        QueryFailedError: a process failed.
    """
    directory = Path(tempfile.mkdtemp(prefix="brookmere-bench-"))
    share_cores()
    # No cold start includes compilation.
    class_path()
    kernel_jar()
    try:
        with Broker(directory / "kafka", heap="1g", tied=True) as broker:
            return _Bench(broker, directory, options, tell).report()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


class _Bench:
    def __init__(self, broker: Broker, directory: Path, options: Namespace, tell: Tell) -> None:
        identity = broker.nodes[0].identity
        assert identity is not None, "the broker was started"
        self._broker = identity.pid
        self._cluster = Cluster.at(broker.bootstrap_servers)
        self._directory = directory
        self._options = options
        self._tell = tell
        self._contestants = [one for one in CONTESTANTS if one.short in options.by]
        self._workloads = [
            one for one in workloads(options.records, options.kafka_keys) if one.kind in options.programs
        ]
        self._latencies: list[Latency] = []

    def report(self) -> Report:
        """Measure everything."""
        options = self._options
        results = {
            (one.result.workload, one.result.contestant): one.result
            for workload in self._workloads
            for one in self._measure(workload)
        }
        return Report(
            settings={
                "records per load": ", ".join(f"{one.kind} {one.records:,}" for one in self._workloads),
                "loads": f"1 from a cold start, {options.rounds} warm",
                "partitions": f"{PARTITIONS} of every topic",
                "each contestant": f"{THREADS} threads, heap {MEMORY}, on the cores of the broker",
            },
            results=results,
            latencies=self._latencies,
            goals=[] if options.quick else goals(results, self._latencies),
        )

    def _measure(self, workload: Workload) -> list[Lane]:
        tell = self._tell
        fill_table(self._cluster, workload)
        lanes = []
        with ExitStack() as stack:
            for contestant in self._contestants:
                lane = Lane(self._cluster, contestant, workload, self._directory, self._broker)
                lanes.append(lane)
                lane.start(stack)
                cold = lane.result.cold
                assert cold is not None
                tell(
                    f"kafka  {workload.name}  start  {contestant.name}: {cold.first:.1f} s, {cold.last:.1f} s"
                )
            for number in range(self._options.rounds):
                for lane in lanes if number % 2 == 0 else reversed(lanes):
                    drain = lane.drain()
                    tell(
                        f"kafka  {workload.name}  round {number + 1}  {lane.result.contestant.name}: "
                        f"{workload.records / drain.seconds:,.0f} records/s, "
                        f"{drain.cpu / workload.records * 1e6:.1f} CPU s per million"
                    )
            if workload.kind in WITH_LATENCY and not self._options.no_latency:
                for lane in lanes:
                    self._latencies.append(self._latency(lane))
            for lane in lanes:
                lane.finish()
        for lane in lanes:
            lane.remove()
        return lanes

    def _latency(self, lane: Lane) -> Latency:
        child, result = lane.child, lane.result
        assert child is not None
        child.release()
        seconds = 3.0 if self._options.quick else 10.0
        found = measure(self._cluster, result.contestant, result.workload, lane.place, child, seconds)
        child.hold()
        self._tell(
            f"kafka  {child.name}: p50 {found.quantile(0.5):.0f} ms, p99 {found.quantile(0.99):.0f} ms"
        )
        return found

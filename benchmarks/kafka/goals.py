"""The goals for programs from Kafka to Kafka."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.kafka.contestants import OWN, RIVAL, Contestant
from benchmarks.kafka.latency import Latency
from benchmarks.kafka.throughput import Result
from benchmarks.kafka.workloads import Workload
from benchmarks.marks import Goal

LEAST_RATIOS = {"projection": 1.0, "words": 1.0, "keys": 1.5, "join": 1.5, "windows": 1.0}
MOST_MS = 300.0

Results = Mapping[tuple[Workload, Contestant], Result]


def goals(results: Results, latencies: Sequence[Latency]) -> list[Goal]:
    """Return the goals that these results cover."""
    found = []
    for (workload, contestant), own in results.items():
        rival = results.get((workload, RIVAL))
        if contestant == OWN and rival is not None:
            ratio = own.per_second / rival.per_second
            what = f"records/s x Kafka Streams, both exactly once, {workload.name}"
            found.append(Goal(what, ratio, least=LEAST_RATIOS[workload.kind]))
    found += [
        Goal(f"latency p50, ms, {one.workload.name}", one.quantile(0.5), most=MOST_MS)
        for one in latencies
        if one.contestant == OWN
    ]
    return found

"""The goals for the path from topic to topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.marks import Goal
from benchmarks.topics.cases import Case
from benchmarks.topics.latency import Latency
from benchmarks.topics.throughput import Result

FEW_KEYS = 100
MANY_KEYS = 100_000
LEAST_RATIOS = {FEW_KEYS: 0.9, MANY_KEYS: 1.2}
MOST_MS = 400.0
MOST_RATIO = 1.3


def goals(groups: Sequence[Mapping[Case, Result]], latencies: Sequence[Latency]) -> list[Goal]:
    """Return the goals that these results cover."""
    found = []
    for results in groups:
        workload = next(iter(results)).workload
        least = LEAST_RATIOS.get(workload.keys)
        if least is not None:
            native, own = (
                results[Case(workload, engine)].rows_per_second for engine in ("PySpark", "Brookmere")
            )
            found.append(Goal(f"rows/s x PySpark, {workload.name}", own / native, least=least))
    p50 = {one.engine: one.p50 for one in latencies}
    if p50:
        found.append(Goal("latency p50, ms", p50["Brookmere"], most=MOST_MS))
        found.append(Goal("latency p50 x PySpark", p50["Brookmere"] / p50["PySpark"], most=MOST_RATIO))
    return found

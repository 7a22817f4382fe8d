"""Latency of the kernel: the time of a batch with one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.kernel.cases import NATIVE, NATIVE_DIRECT, Case
from benchmarks.kernel.data import Feed
from benchmarks.kernel.throughput import Result

CASES = (NATIVE, NATIVE_DIRECT, Case("count", "memory", "every"), Case("count", "rocksdb", "every"))
FEED = Feed(keys=100, rows=1, source_partitions=1)


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from the start of a trigger to its end."""

    case: Case
    batches: int
    p50: float
    p95: float
    least: float
    add_p50: float
    """Of the part that runs the batch, without planning and logs."""


def latency(result: Result) -> Latency:
    """Return the latency of a case, over the batches of all rounds."""
    times = sorted(batch.trigger_ms for batch in result.batches)
    return Latency(
        case=result.case,
        batches=len(times),
        p50=median(times),
        p95=_quantile(times, 0.95),
        least=times[0],
        add_p50=median(batch.add_ms for batch in result.batches),
    )


def _quantile(ordered: Sequence[int], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

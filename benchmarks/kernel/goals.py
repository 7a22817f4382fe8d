"""The goals for the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.kernel.cases import NATIVE, NATIVE_DIRECT, Case
from benchmarks.kernel.latency import Latency
from benchmarks.kernel.throughput import Result

MANY_KEYS = 100_000
FEW_KEYS = 100


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio to Spark's own aggregation, and its limits."""

    what: str
    ratio: float
    direct_ratio: float | None = None
    """The ratio to Spark's aggregation without foreachBatch, which Brookmere needs and Spark does not."""
    least: float | None = None
    most: float | None = None

    @property
    def is_met(self) -> bool:
        """Return whether the goal is met."""
        return (self.least is None or self.ratio >= self.least) and (
            self.most is None or self.ratio <= self.most
        )


def goals(counts: Sequence[Mapping[Case, Result]], latencies: Sequence[Latency]) -> list[Goal]:
    """Return the goals that these results cover."""
    found = []
    for results in counts:
        speeds = {case: result.rows_per_second for case, result in results.items()}
        keys = results[NATIVE].feed.keys
        least = 1.1 if keys >= MANY_KEYS else 0.45 if keys == FEW_KEYS else None
        for case in _rivals(speeds) if least is not None else ():
            what = f"rows/s, {keys:,} keys, every update, {case.store}"
            found.append(Goal(what, *_ratios(case, speeds), least=least))
    times = {one.case: one.p50 for one in latencies}
    for case in _rivals(times):
        what = f"latency p50, one row per batch, every update, {case.store}"
        found.append(Goal(what, *_ratios(case, times), most=1.2))
    return found


def _rivals(cases: Iterable[Case]) -> list[Case]:
    return [c for c in cases if c.store is not None and c.shape == "count" and c.emit == "every"]


def _ratios(case: Case, numbers: Mapping[Case, float]) -> tuple[float, float | None]:
    direct = numbers[case] / numbers[NATIVE_DIRECT] if NATIVE_DIRECT in numbers else None
    return numbers[case] / numbers[NATIVE], direct

"""Turns results into the marks that were set for them, met or missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.cases import NATIVE, Case
from benchmarks.latency import Latency
from benchmarks.throughput import Result

MANY_KEYS = 100_000
FEW_KEYS = 100


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio to Spark's own aggregation, and the least or the most it may be."""

    what: str
    ratio: float
    least: float | None = None
    most: float | None = None

    @property
    def is_met(self) -> bool:
        """Tell whether the mark is reached."""
        return (self.least is None or self.ratio >= self.least) and (
            self.most is None or self.ratio <= self.most
        )


def goals(counts: Sequence[Mapping[Case, Result]], latencies: Sequence[Latency]) -> list[Goal]:
    """Return the marks that these results can tell of."""
    found = []
    for results in counts:
        native = results[NATIVE]
        keys = native.feed.keys
        for case, result in results.items():
            if case.store is None or case.shape != "count" or case.emit != "every":
                continue
            what = f"rows/s, {keys:,} keys, every update, {case.store}"
            ratio = result.rows_per_second / native.rows_per_second
            if keys >= MANY_KEYS:
                found.append(Goal(what, ratio, least=1.1))
            elif keys == FEW_KEYS:
                found.append(Goal(what, ratio, least=0.45))
    native_p50 = next((one.p50 for one in latencies if one.case == NATIVE), None)
    if native_p50 is not None:
        found += [
            Goal(f"latency p50, one row per batch, {one.case.store}", one.p50 / native_p50, most=1.2)
            for one in latencies
            if one.case.store is not None
        ]
    return found

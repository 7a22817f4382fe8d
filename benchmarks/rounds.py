"""Runs several rounds of each case, the cases taking turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Generic, TypeVar

from benchmarks.measure import Batch, Bench, Case, Feed, Run

C = TypeVar("C", bound=Case)
F = TypeVar("F", bound=Feed)


@dataclass(frozen=True, slots=True)
class Result(Generic[C, F]):
    """All measured batches of a case."""

    case: C
    feed: F
    batches: list[Batch] = field(default_factory=list)

    @property
    def rows_per_second(self) -> float:
        """Of the fastest batch."""
        return self.feed.rows * 1000 / min(batch.add_ms for batch in self.batches)

    @property
    def typical_rows_per_second(self) -> float:
        """Of the median batch."""
        return self.feed.rows * 1000 / median(batch.add_ms for batch in self.batches)

    @property
    def cheapest(self) -> Batch:
        """The batch that took the least CPU time."""
        return min(self.batches, key=lambda batch: batch.cpu_ns)

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU time per row, of the cheapest batch."""
        return self.per_row(self.cheapest.cpu_ns)

    @property
    def typical_cpu_us(self) -> float:
        """Microseconds of CPU time per row, of the median batch."""
        return self.per_row(median(batch.cpu_ns for batch in self.batches))

    def per_row(self, nanoseconds: float) -> float:
        """Return microseconds per row."""
        return nanoseconds / 1000 / self.feed.rows


def measure(
    bench: Bench,
    feeds: dict[C, F],
    rounds: int,
    tell: Callable[[str], None],
    check: Callable[[C, F, Run], None],
) -> dict[C, Result[C, F]]:
    """Run all cases on their feeds in turn, `rounds` times, and check each run.

    The machine's other load varies: it should affect every case alike, so every other round runs
    in reverse order, and the best batch of all rounds counts.
    """
    results = {case: Result(case, feed) for case, feed in feeds.items()}
    for number in range(rounds):
        turns = list(feeds.items())
        for case, feed in turns if number % 2 == 0 else reversed(turns):
            tell(f"{feed.keys:>9,} keys  {feed.rows:>9,} rows  round {number + 1}  {case.name}")
            run = bench.run(case, feed)
            check(case, feed, run)
            results[case].batches.extend(run.batches)
            one = Result(case, feed, run.batches)
            if run.batches:
                tell(f"{'':>40}{one.rows_per_second:,.0f} rows/s  {one.cpu_us:.2f} us/row")
    return results

"""Turns cases into results: several rounds of each, the rounds of all cases taking turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.kernel.cases import Case
from benchmarks.kernel.check import Facts, compare, expected
from benchmarks.kernel.data import Feed
from benchmarks.kernel.measure import Batch, Bench


@dataclass(frozen=True, slots=True)
class Result:
    """All measured batches of a case."""

    case: Case
    feed: Feed
    batches: list[Batch] = field(default_factory=list)

    @property
    def rows_per_second(self) -> float:
        """Of the fastest batch."""
        return self.feed.rows * 1000 / min(batch.add_ms for batch in self.batches)

    @property
    def cheapest(self) -> Batch:
        """The batch that took the least processor time."""
        return min(self.batches, key=lambda batch: batch.cpu_ns)

    @property
    def cpu_us(self) -> float:
        """Microseconds of processor time per row, of the cheapest batch."""
        return self.per_row(self.cheapest.cpu_ns)

    @property
    def typical_cpu_us(self) -> float:
        """Microseconds of processor time per row, of the median batch."""
        return self.per_row(median(batch.cpu_ns for batch in self.batches))

    def per_row(self, nanoseconds: float) -> float:
        """Return microseconds per row."""
        return nanoseconds / 1000 / self.feed.rows


def measure(
    bench: Bench, cases: Sequence[Case], feed: Feed, rounds: int, tell: Callable[[str], None]
) -> dict[Case, Result]:
    """Run all cases in turn, `rounds` times, and refuse wrong results.

    The machine's other load comes and goes: it should meet every case alike, so every other round runs
    backwards, and the best batch of all rounds counts.

    Raises:
        WrongResultError: a case did not give the right counts.
    """
    results = {case: Result(case, feed) for case in cases}
    right: dict[tuple[str, str, int], Facts] = {}
    for number in range(rounds):
        for case in cases if number % 2 == 0 else reversed(cases):
            tell(f"{feed.keys:>9,} keys  {feed.rows:>9,} rows  round {number + 1}  {case.name}")
            run = bench.run(case, feed)
            results[case].batches.extend(run.batches)
            batch, facts = run.checked
            known = (case.shape, case.emit, batch)
            if known not in right:
                right[known] = expected(case, feed, batch, bench.session)
            compare(case, feed, batch, facts, right[known])
    return results

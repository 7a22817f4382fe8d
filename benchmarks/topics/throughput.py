"""Runs several rounds of each case, the cases taking turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.topics.cases import Case
from benchmarks.topics.measure import Batch, Bench, Run


@dataclass(frozen=True, slots=True)
class Result:
    """All measured batches of a case."""

    case: Case
    runs: list[Run] = field(default_factory=list)

    @property
    def batches(self) -> list[Batch]:
        """The batches of all rounds."""
        return [batch for run in self.runs for batch in run.batches]

    @property
    def rows_per_second(self) -> float:
        """Of the fastest batch."""
        return max(_speed(batch) for batch in self.batches)

    @property
    def typical_rows_per_second(self) -> float:
        """Of the median batch."""
        return median(_speed(batch) for batch in self.batches)

    @property
    def cheapest(self) -> Batch:
        """The batch that took the least CPU time per record."""
        return min(self.batches, key=_cost)

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU time per record, of the cheapest batch."""
        return _cost(self.cheapest)

    @property
    def typical_cpu_us(self) -> float:
        """Microseconds of CPU time per record, of the median batch."""
        return median(_cost(batch) for batch in self.batches)

    @property
    def written_per_row(self) -> float:
        """Records written per record read."""
        return self.runs[0].written / self.runs[0].read


def _speed(batch: Batch) -> float:
    return batch.rows * 1000 / batch.elapsed_ms


def _cost(batch: Batch) -> float:
    return batch.cpu_ns / 1000 / batch.rows


def measure(
    bench: Bench, cases: Sequence[Case], rounds: int, tell: Callable[[str], None]
) -> dict[Case, Result]:
    """Run all cases in turn, `rounds` times, every other round in reverse order.

    Raises:
        WrongResultError: a case produced wrong results.
        QueryFailedError: a query failed or took too long.
    """
    results = {case: Result(case) for case in cases}
    for number in range(rounds):
        for case in cases if number % 2 == 0 else reversed(cases):
            tell(f"topics  {case.workload.rows:>9,} rows  round {number + 1}  {case.name}")
            results[case].runs.append(bench.run(case))
    return results

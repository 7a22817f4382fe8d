"""The report on the kernel: tables for people, a document for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.kernel.breakdown import Breakdown
from benchmarks.kernel.cases import NATIVE, Case
from benchmarks.kernel.goals import Goal
from benchmarks.kernel.latency import Latency
from benchmarks.kernel.throughput import Result
from benchmarks.tables import Cells, Table, pairs

CLOCKS = ("| processing", "writing state", "commit")


@dataclass(frozen=True, slots=True)
class Report:
    """All results about the kernel."""

    settings: Mapping[str, Any]
    results: Sequence[Mapping[Case, Result]]
    """One mapping per number of keys."""
    breakdowns: Sequence[Breakdown]
    latencies: Sequence[Latency]
    goals: Sequence[Goal]

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        found = [pairs("Settings", self.settings)]
        found += [_throughput(self.results), _breakdowns(self.breakdowns)]
        found += [_latencies(self.latencies)] if self.latencies else []
        return found + ([_goals(self.goals)] if self.goals else [])

    def document(self) -> dict[str, Any]:
        """Return the same, and every measured batch, as plain values."""
        return {
            "settings": dict(self.settings),
            "throughput": [
                {
                    "keys": result.feed.keys,
                    "case": asdict(case) | {"name": case.name},
                    "rows_per_second": result.rows_per_second,
                    "rows_ratio": result.rows_per_second / results[NATIVE].rows_per_second,
                    "cpu_us_per_row": result.cpu_us,
                    "median_cpu_us_per_row": result.typical_cpu_us,
                    "cpu_ratio": results[NATIVE].cpu_us / result.cpu_us,
                    "batches": [asdict(batch) for batch in result.batches],
                }
                for results in self.results
                for case, result in results.items()
            ],
            "breakdown": [asdict(one) | {"name": one.case.name} for one in self.breakdowns],
            "latency": [asdict(one) | {"name": one.case.name} for one in self.latencies],
            "goals": [asdict(goal) | {"is_met": goal.is_met} for goal in self.goals],
        }


def _throughput(groups: Sequence[Mapping[Case, Result]]) -> Table:
    head = ("keys", "case", "rows/s", "x Spark", "CPU us/row", "x Spark", "median us/row")
    rows: list[Cells] = []
    for results in groups:
        native = results[NATIVE]
        for case, result in results.items():
            # Cases that do not count are not compared with a count.
            counts = case.shape in ("count", "chain")
            rows.append(
                (
                    f"{result.feed.keys:,}",
                    case.name,
                    f"{result.rows_per_second:,.0f}",
                    f"{result.rows_per_second / native.rows_per_second:.2f}" if counts else "-",
                    f"{result.cpu_us:.2f}",
                    f"{native.cpu_us / result.cpu_us:.2f}" if counts else "-",
                    f"{result.typical_cpu_us:.2f}",
                )
            )
        rows.append(())
    title = "Throughput: x Spark is the ratio to Spark groupBy().count() with the same sink, more is better"
    note = "A chain is compared with Spark's single count: in update mode Spark cannot chain aggregates."
    return Table(title, head, rows[:-1], note)


def _breakdowns(found: Sequence[Breakdown]) -> Table:
    head = ("keys", "case", "source", "stage 0", "exchange", "kernel+state", "total", *CLOCKS)
    rows = [
        (
            f"{one.keys:,}",
            one.case.name,
            *(
                f"{value:.2f}"
                for value in (
                    one.source,
                    one.stage_0,
                    one.exchange,
                    one.kernel_and_state,
                    one.total,
                    one.processing_clock,
                    one.state_clock,
                    one.commit_clock,
                )
            ),
        )
        for one in found
    ]
    title = "Where the time goes: us per row of the cheapest batch; CPU time, then timers"
    return Table(title, head, rows)


def _latencies(found: Sequence[Latency]) -> Table:
    native = next(one for one in found if one.case == NATIVE)
    head = ("case", "p50 ms", "x Spark", "p95 ms", "least ms", "running p50 ms")
    rows = [
        (
            one.case.name,
            f"{one.p50:.0f}",
            f"{one.p50 / native.p50:.2f}",
            f"{one.p95:.0f}",
            f"{one.least:.0f}",
            f"{one.add_p50:.0f}",
        )
        for one in found
    ]
    return Table("Latency: one row per batch, time of a trigger; less is better", head, rows)


def _goals(found: Sequence[Goal]) -> Table:
    rows = [
        (
            goal.what,
            f"{goal.ratio:.2f}",
            "-" if goal.direct_ratio is None else f"{goal.direct_ratio:.2f}",
            f"at least {goal.least:.2f}" if goal.least is not None else f"at most {goal.most:.2f}",
            "met" if goal.is_met else "missed",
        )
        for goal in found
    ]
    return Table("Goals", ("what", "x Spark", "x Spark, noop sink", "goal", ""), rows)

"""The report on the path from topic to topic: tables for people, a document for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.marks import Goal, goals_table
from benchmarks.tables import Cells, Table, pairs
from benchmarks.topics.cases import Case
from benchmarks.topics.latency import Latency
from benchmarks.topics.parts import Parts
from benchmarks.topics.throughput import Result

PARTS = ("read", "decode", "exchange", "kernel", "state", "encode", "write", "total", "commit_clock")


@dataclass(frozen=True, slots=True)
class Report:
    """All results about the path from topic to topic."""

    settings: Mapping[str, Any]
    results: Sequence[Mapping[Case, Result]]
    """One mapping per workload."""
    rungs: Mapping[Case, Result]
    parts: Sequence[Parts]
    latencies: Sequence[Latency]
    goals: Sequence[Goal]

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        found = [pairs("Settings", self.settings), _throughput(self.results), _parts(self.parts)]
        found += [_latencies(self.latencies)] if self.latencies else []
        return found + ([goals_table(self.goals)] if self.goals else [])

    def document(self) -> dict[str, Any]:
        """Return the same, and every measured batch, as plain values."""
        groups = [*self.results, self.rungs]
        return {
            "settings": dict(self.settings),
            "throughput": [_document(result) for group in groups for result in group.values()],
            "parts": [asdict(one) | {"name": one.case.name} for one in self.parts],
            "latency": [
                {"engine": one.engine, "p50": one.p50, "p95": one.p95, "times": one.times}
                for one in self.latencies
            ],
            "goals": [asdict(goal) | {"is_met": goal.is_met} for goal in self.goals],
        }


def _document(result: Result) -> dict[str, Any]:
    return {
        "case": asdict(result.case) | {"name": result.case.name},
        "rows_per_second": result.rows_per_second,
        "median_rows_per_second": result.typical_rows_per_second,
        "cpu_us_per_row": result.cpu_us,
        "median_cpu_us_per_row": result.typical_cpu_us,
        "written_per_row": result.written_per_row,
        "batches": [asdict(batch) for batch in result.batches],
    }


def _throughput(groups: Sequence[Mapping[Case, Result]]) -> Table:
    ratio = "x PySpark"
    head = (
        *("what", "by", "rows/s", ratio, "median rows/s", ratio),
        *("CPU us/row", ratio, "median us/row", ratio),
    )
    rows: list[Cells] = []
    for results in groups:
        native = next(result for case, result in results.items() if case.engine == "PySpark")
        for case, one in results.items():
            numbers = (
                (f"{one.rows_per_second:,.0f}", one.rows_per_second / native.rows_per_second),
                (
                    f"{one.typical_rows_per_second:,.0f}",
                    one.typical_rows_per_second / native.typical_rows_per_second,
                ),
                (f"{one.cpu_us:.2f}", native.cpu_us / one.cpu_us),
                (f"{one.typical_cpu_us:.2f}", native.typical_cpu_us / one.typical_cpu_us),
            )
            cells = [cell for shown, times in numbers for cell in (shown, f"{times:.2f}")]
            rows.append((case.workload.name, case.by, *cells))
        rows.append(())
    note = "The Python loop runs on one core, and keeps no durable state: its counts are lost when it ends."
    title = "Throughput: x PySpark is the ratio to PySpark on the same topics, more is better"
    return Table(title, head, rows[:-1], note)


def _parts(found: Sequence[Parts]) -> Table:
    head = ("what", "by", *PARTS[:-1], "| commit")
    rows = [
        (one.case.workload.name, one.case.by, *(_micros(getattr(one, part)) for part in PARTS))
        for one in found
    ]
    title = (
        "Where the time goes: CPU us per record read, of the cheapest batch; then elapsed time of the commits"
    )
    return Table(title, head, rows)


def _micros(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _latencies(found: Sequence[Latency]) -> Table:
    native = next(one for one in found if one.engine == "PySpark")
    rows = [
        (
            one.engine,
            f"{one.p50:.0f}",
            f"{one.p50 / native.p50:.2f}",
            f"{one.p95:.0f}",
            f"{one.p95 / native.p95:.2f}",
            f"{one.least:.0f}",
        )
        for one in found
    ]
    head = ("by", "p50 ms", "x PySpark", "p95 ms", "x PySpark", "least ms")
    return Table("Latency: from appending one record to its count in the output topic", head, rows)

"""The report on windows and joins: tables for people, a document for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.marks import Goal, goals_table
from benchmarks.operators.cases import Case
from benchmarks.operators.data import Feed
from benchmarks.operators.goals import Results, growing, rival
from benchmarks.rounds import Result
from benchmarks.tables import Cells, Table, pairs

_SPEEDS = ("rows_per_second", "typical_rows_per_second")
_COSTS = ("cpu_us", "typical_cpu_us")


@dataclass(frozen=True, slots=True)
class Report:
    """All results about windows and joins."""

    settings: Mapping[str, Any]
    results: Results
    goals: Sequence[Goal]

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        found = [pairs("Settings", self.settings), _throughput(self.results)]
        found += [_growth(self.results)] if growing(self.results) else []
        return found + ([goals_table(self.goals)] if self.goals else [])

    def document(self) -> dict[str, Any]:
        """Return the same, and every measured batch, as plain values."""
        return {
            "settings": dict(self.settings),
            "throughput": [
                {
                    "keys": keys,
                    "case": asdict(case) | {"name": case.name},
                    "rows": result.feed.rows,
                    "rows_per_second": result.rows_per_second,
                    "median_rows_per_second": result.typical_rows_per_second,
                    "cpu_us_per_row": result.cpu_us,
                    "median_cpu_us_per_row": result.typical_cpu_us,
                    "batches": [asdict(batch) for batch in result.batches],
                }
                for (case, keys), result in self.results.items()
            ],
            "goals": [asdict(goal) | {"is_met": goal.is_met} for goal in self.goals],
        }


def _throughput(results: Results) -> Table:
    head = (
        *("what", "keys", "by", "rows/s", "x", "median rows/s", "x", "CPU us/row", "x", "median us/row", "x"),
        *("| processing", "writing state"),
    )
    rows: list[Cells] = []
    before: tuple[str, int] | None = None
    for (case, keys), one in results.items():
        if before not in (None, (case.work, keys)):
            rows.append(())
        before = case.work, keys
        numbers = _numbers(one, rival(results, case, keys))
        rows.append((case.work, f"{keys:,}", case.by, *numbers, *_clocks(one)))
    title = "Throughput: x is the ratio to Spark, or to count by key if Spark cannot do it; more is better"
    note = "Spark has no join with a changing table, and no aggregate of an aggregate in update mode."
    return Table(title, head, rows, note)


def _numbers(one: Result[Case, Feed], base: Result[Case, Feed] | None) -> list[str]:
    found = []
    for name in (*_SPEEDS, *_COSTS):
        value, is_speed = getattr(one, name), name in _SPEEDS
        found.append(f"{value:,.0f}" if is_speed else f"{value:.2f}")
        other = None if base is None else getattr(base, name)
        found.append("-" if other is None else f"{value / other if is_speed else other / value:.2f}")
    return found


def _clocks(one: Result[Case, Feed]) -> list[str]:
    stages = one.cheapest.stages
    if not stages:
        return ["-", "-"]
    return [f"{one.per_row(sum(times[which] for times in stages)):.2f}" for which in (0, 1)]


def _growth(results: Results) -> Table:
    rows = [
        (
            case.work,
            case.by,
            f"{few.feed.keys:,}",
            f"{few.cpu_us:.2f}",
            f"{many.feed.keys:,}",
            f"{many.cpu_us:.2f}",
            f"{many.cpu_us / few.cpu_us:.2f}",
        )
        for case, few, many in growing(results)
    ]
    head = ("what", "by", "keys", "CPU us/row", "keys", "CPU us/row", "growth")
    return Table("Growth: the cost of a record with few and with many keys; less is better", head, rows)

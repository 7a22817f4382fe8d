"""The report on Python code: tables for people, a document for programs, and goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.marks import Goal, goals_table
from benchmarks.python.contestants import OWN, QUIX, Contestant
from benchmarks.python.measuring import Result
from benchmarks.python.workloads import Workload
from benchmarks.tables import Table, pairs

LEAST_PER_SECOND = 150_000.0
LEAST_RATIO = 5.0
_MARKED_KEYS = 100_000


@dataclass(frozen=True, slots=True)
class Report:
    """All results about Python code."""

    settings: Mapping[str, Any]
    results: Sequence[Result]
    is_trial: bool

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        found = [pairs("Settings", self.settings), self._speed()]
        return found if self.is_trial else [*found, goals_table(self.goals())]

    def document(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "settings": dict(self.settings),
            "results": [asdict(each) for each in self.results],
            "goals": [asdict(goal) | {"is_met": goal.is_met} for goal in self.goals()],
        }

    def goals(self) -> list[Goal]:
        """Return the goals that these results cover."""
        found = []
        for result in self.results:
            workload = result.workload
            if result.contestant != OWN:
                continue
            if workload.program == "count" and workload.keys == _MARKED_KEYS:
                found.append(Goal(f"records/s, {workload.name}", result.per_second, least=LEAST_PER_SECOND))
            quix = self._of(QUIX, workload)
            if quix is not None:
                ratio = result.per_cpu_second / quix.per_cpu_second
                found.append(Goal(f"per core x Quix Streams, {workload.name}", ratio, least=LEAST_RATIO))
        return found

    def _of(self, contestant: Contestant, workload: Workload) -> Result | None:
        same = (r for r in self.results if r.contestant == contestant and r.workload == workload)
        return next(same, None)

    def _speed(self) -> Table:
        rows: list[tuple[str, ...]] = []
        for workload in dict.fromkeys(result.workload for result in self.results):
            own = self._of(OWN, workload)
            for result in (each for each in self.results if each.workload == workload):
                ratio = "" if own is None else f"{own.per_cpu_second / result.per_cpu_second:.1f}"
                rows.append(
                    (
                        workload.name,
                        result.contestant.name,
                        f"{result.per_second:,.0f}",
                        f"{result.per_cpu_second:,.0f}",
                        ratio,
                        f"{result.started:.1f}",
                    )
                )
            rows.append(())
        head = ("program", "by", "records/s", "per CPU s", "Brookmere x this, per CPU s", "first result s")
        note = "Two cores, shared with the broker. One result per record; all results were checked."
        return Table("From Kafka to Kafka, in Python", head, rows[:-1], note)

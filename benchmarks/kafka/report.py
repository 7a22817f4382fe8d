"""The report on programs from Kafka to Kafka: tables for people, a document for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.kafka.contestants import RIVAL, Contestant
from benchmarks.kafka.goals import Results
from benchmarks.kafka.latency import Latency
from benchmarks.kafka.throughput import Result
from benchmarks.kafka.workloads import Workload
from benchmarks.marks import Goal, goals_table
from benchmarks.tables import Cells, Table, pairs

_RATIO = "x Streams"


@dataclass(frozen=True, slots=True)
class Report:
    """All results of programs from Kafka to Kafka."""

    settings: Mapping[str, Any]
    results: Results
    latencies: Sequence[Latency]
    goals: Sequence[Goal]

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        found = [pairs("Settings", self.settings), _throughput(self.results), _cold(self.results)]
        found += [_phases(self.results)] if any(one.best.batches for one in self.results.values()) else []
        found += [_latency(self.latencies)] if self.latencies else []
        return found + ([goals_table(self.goals)] if self.goals else [])

    def document(self) -> dict[str, Any]:
        """Return the same, and every load, as plain values."""
        return {
            "settings": dict(self.settings),
            "throughput": [_document(result) for result in self.results.values()],
            "latency": [
                {
                    "what": one.workload.name,
                    "by": one.contestant.name,
                    **{f"p{int(part * 100)}": one.quantile(part) for part in (0.5, 0.9, 0.99)},
                    "records": len(one.times),
                }
                for one in self.latencies
            ],
            "goals": [asdict(goal) | {"is_met": goal.is_met} for goal in self.goals],
        }


def _document(result: Result) -> dict[str, Any]:
    return {
        "what": result.workload.name,
        "by": result.contestant.name,
        "workload": asdict(result.workload),
        "records_per_second": result.per_second,
        "cpu_seconds_per_million": result.cpu_per_million,
        "broker_cpu_seconds_per_million": result.broker_cpu_per_million,
        "written_per_record": result.written_per_record,
        "cold": None if result.cold is None else asdict(result.cold),
        "loads": [asdict(drain) for drain in result.drains],
    }


def _throughput(results: Results) -> Table:
    head = (
        *("what", "by", "records/s", _RATIO, "CPU s/million", _RATIO),
        *("broker CPU s/million", "written per record"),
    )
    rows = []
    for key, one in results.items():
        rival = results.get((key[0], RIVAL))
        rows.append(
            (
                one.workload.name,
                one.contestant.name,
                f"{one.per_second:,.0f}",
                _times(one.per_second, None if rival is None else rival.per_second),
                f"{one.cpu_per_million:.2f}",
                _times(None if rival is None else rival.cpu_per_million, one.cpu_per_million),
                f"{one.broker_cpu_per_million:.2f}",
                f"{one.written_per_record:.2f}",
            )
        )
    title = f"Throughput, warm: {_RATIO} is the ratio to Kafka Streams with exactly_once_v2, more is better"
    note = "Kafka Streams with at_least_once: until the last record is processed; it commits every 30 s."
    return Table(title, head, _apart(results, rows), note)


def _cold(results: Results) -> Table:
    head = ("what", "by", "first result s", _RATIO, "last result s", _RATIO)
    rows = []
    for key, one in results.items():
        assert one.cold is not None, "every run has a start"
        rival = results.get((key[0], RIVAL))
        cold = None if rival is None else rival.cold
        rows.append(
            (
                one.workload.name,
                one.contestant.name,
                f"{one.cold.first:.1f}",
                _times(None if cold is None else cold.first, one.cold.first),
                f"{one.cold.last:.1f}",
                _times(None if cold is None else cold.last, one.cold.last),
            )
        )
    title = "Cold start: from the launch of the process to the first and the last result of the first load"
    return Table(title, head, _apart(results, rows))


def _phases(results: Results) -> Table:
    """Show where the time of the best load went, for contestants that report it."""
    told = [one for one in results.values() if one.best.batches]
    names = [name for name in told[0].best.batches[0] if name != "records"]
    rows = []
    for one in told:
        seconds = [sum(batch.get(name, 0.0) for batch in one.best.batches) for name in names]
        rest = one.best.seconds - sum(seconds)
        rows.append(
            (
                one.workload.name,
                f"{len(one.best.batches)}",
                f"{one.best.seconds:.2f}",
                *(f"{value:.2f}" for value in (*seconds, rest)),
            )
        )
    head = ("what", "batches", "load s", *(f"{name} s" for name in names), "rest s")
    title = "Where Brookmere's time goes, warm: seconds of the fastest load by phase of its batches"
    return Table(title, head, rows)


def _latency(found: Sequence[Latency]) -> Table:
    p50 = {(one.workload, one.contestant): one.quantile(0.5) for one in found}
    rows: list[Cells] = []
    for before, one in zip([None, *found], found, strict=False):
        if before is not None and before.workload != one.workload:
            rows.append(())
        rows.append(
            (
                one.workload.name,
                one.contestant.name,
                *(f"{one.quantile(part):.0f}" for part in (0.5, 0.9, 0.99)),
                _times(p50.get((one.workload, RIVAL)), one.quantile(0.5)),
            )
        )
    head = ("what", "by", "p50 ms", "p90 ms", "p99 ms", f"p50 {_RATIO}")
    return Table("Latency at 1,000 records/s: from sending a record to its result", head, rows)


def _times(above: float | None, below: float | None) -> str:
    return "-" if above is None or not below else f"{above / below:.2f}"


def _apart(keys: Mapping[tuple[Workload, Contestant], Result], rows: Sequence[Cells]) -> list[Cells]:
    """Insert a gap between the rows of different programs."""
    found: list[Cells] = []
    for number, ((workload, _), row) in enumerate(zip(keys, rows, strict=True)):
        if number and workload != list(keys)[number - 1][0]:
            found.append(())
        found.append(row)
    return found

"""The report on queries: tables for people, a document for programs, and goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from benchmarks.marks import Goal, goals_table
from benchmarks.tables import Table, pairs

LEAST_IN_PYTHON = 200_000.0
LEAST_OVER_HTTP = 5_000.0
MOST_P99_MS = 20.0
LEAST_RATIO = 0.9


@dataclass(frozen=True, slots=True)
class Reads:
    """Rounds of random reads in Python."""

    backend: str
    keys: int
    reads: int
    """Per round."""
    filled_seconds: float
    rounds: Sequence[Mapping[str, float]]

    @property
    def per_second(self) -> float:
        """The reads per second of the fastest round."""
        return self.reads / min(each["seconds"] for each in self.rounds)

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU time per read in the cheapest round."""
        return min(each["cpu"] for each in self.rounds) / self.reads * 1e6


@dataclass(frozen=True, slots=True)
class Requests:
    """A round of random reads over HTTP."""

    what: str
    reads: int
    seconds: float
    p50: float
    p99: float
    most: float

    @property
    def per_second(self) -> float:
        """The reads per second."""
        return self.reads / self.seconds


@dataclass(frozen=True, slots=True)
class Load:
    """How fast an application processed some records, with or without queries."""

    queried: bool
    records: int
    seconds: float

    @property
    def per_second(self) -> float:
        """The records per second."""
        return self.records / self.seconds


@dataclass(frozen=True, slots=True)
class Report:
    """All results about queries."""

    settings: Mapping[str, Any]
    reads: Sequence[Reads]
    requests: Sequence[Requests]
    loads: Sequence[Load]
    is_trial: bool

    @property
    def ratio(self) -> float:
        """The throughput with queries as a fraction of that without: the median over pairs of loads."""
        plain = [load.per_second for load in self.loads if not load.queried]
        queried = [load.per_second for load in self.loads if load.queried]
        return median(b / a for a, b in zip(plain, queried, strict=True))

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        found = [pairs("Settings", self.settings), self._reads(), self._requests(), self._loads()]
        return found if self.is_trial else [*found, goals_table(self.goals())]

    def document(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "settings": dict(self.settings),
            "reads": [asdict(each) for each in self.reads],
            "requests": [asdict(each) for each in self.requests],
            "loads": [asdict(each) for each in self.loads],
            "ratio": self.ratio,
            "goals": [asdict(goal) | {"is_met": goal.is_met} for goal in self.goals()],
        }

    def goals(self) -> list[Goal]:
        """Return the goals."""
        alone = [each for each in self.requests if each.what == "alone"]
        found = [
            Goal(f"reads/s in Python, {each.backend}", each.per_second, least=LEAST_IN_PYTHON)
            for each in self.reads
        ]
        found.append(Goal("reads/s over HTTP", median(r.per_second for r in alone), least=LEAST_OVER_HTTP))
        found.append(Goal("p99 over HTTP, ms", median(r.p99 for r in alone) * 1000, most=MOST_P99_MS))
        found.append(Goal("throughput with queries x without", self.ratio, least=LEAST_RATIO))
        return found

    def _reads(self) -> Table:
        rows = [
            (
                each.backend,
                f"{each.keys:,}",
                f"{each.per_second:,.0f}",
                f"{each.cpu_us:.2f}",
                f"{each.filled_seconds:.1f}",
            )
            for each in self.reads
        ]
        head = ("kept in", "keys", "reads/s", "CPU us/read", "filled s")
        return Table("Random keys, in Python in one thread", head, rows)

    def _requests(self) -> Table:
        rows = [
            (
                each.what,
                f"{each.per_second:,.0f}",
                *(f"{value * 1000:.2f}" for value in (each.p50, each.p99, each.most)),
            )
            for each in self.requests
        ]
        head = ("application", "reads/s", "p50 ms", "p99 ms", "most ms")
        return Table("Random keys, over HTTP, a server on one core", head, rows)

    def _loads(self) -> Table:
        rows = [
            ("yes" if load.queried else "no", f"{load.records:,}", f"{load.per_second:,.0f}")
            for load in self.loads
        ]
        note = f"With queries {self.ratio:.2f} of the throughput without: the median over pairs of loads."
        return Table("An application that counts by key", ("queried", "records", "records/s"), rows, note)

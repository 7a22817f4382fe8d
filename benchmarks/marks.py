"""Goals: numbers with limits, met or missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.tables import Table


@dataclass(frozen=True, slots=True)
class Goal:
    """A number, and its limits."""

    what: str
    found: float
    least: float | None = None
    most: float | None = None

    @property
    def is_met(self) -> bool:
        """Return whether the goal is met."""
        return (self.least is None or self.found >= self.least) and (
            self.most is None or self.found <= self.most
        )


def goals_table(found: Sequence[Goal]) -> Table:
    """Return the goals as a table."""
    rows = [
        (
            goal.what,
            f"{goal.found:.2f}" if goal.found < 10 else f"{goal.found:.0f}",
            f"at least {goal.least:g}" if goal.least is not None else f"at most {goal.most:g}",
            "met" if goal.is_met else "missed",
        )
        for goal in found
    ]
    return Table("Goals", ("what", "found", "goal", ""), rows)

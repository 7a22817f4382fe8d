"""Tables: aligned for a terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Cells = tuple[str, ...]

_OF_NUMBERS = set("-0123456789.,")


@dataclass(frozen=True, slots=True)
class Table:
    """A table under its title, with a note below. An empty row is a gap."""

    title: str
    head: Cells
    rows: Sequence[Cells]
    note: str = ""

    def text(self) -> str:
        """Return aligned columns: numbers to the right, words to the left."""
        numbers = self._are_numbers()
        widths = [max(len(row[i]) for row in (self.head, *self._filled())) for i in range(len(self.head))]

        def line(cells: Cells) -> str:
            placed = zip(cells, widths, numbers, strict=True) if cells else ()
            return (
                "  " + "  ".join(f"{c:>{w}}" if number else f"{c:<{w}}" for c, w, number in placed)
            ).rstrip()

        rule = "  " + "  ".join("-" * width for width in widths)
        below = [f"  {self.note}"] if self.note else []
        return "\n".join([self.title, line(self.head), rule, *(line(row) for row in self.rows), *below])

    def markdown(self) -> str:
        """Return the table as Markdown, to be pasted into a page."""
        rule = tuple("---:" if number else "---" for number in self._are_numbers())
        # Separator columns for the terminal would be extra columns here.
        head = tuple(cell.removeprefix("| ") for cell in self.head)
        lines = ["| " + " | ".join(cells) + " |" for cells in (head, rule, *self._filled())]
        below = ["", self.note] if self.note else []
        return "\n".join([f"**{self.title}**", "", *lines, *below])

    def _filled(self) -> list[Cells]:
        return [row for row in self.rows if row]

    def _are_numbers(self) -> list[bool]:
        return [all(set(row[i]) <= _OF_NUMBERS for row in self._filled()) for i in range(len(self.head))]


def pairs(title: str, found: Mapping[str, Any]) -> Table:
    """Return a table of names and their values."""
    return Table(title, ("what", "found"), [(name, str(value)) for name, value in found.items()])

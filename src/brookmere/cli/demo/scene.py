"""The live display of the word count demo."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.layout import Layout
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from brookmere.record import Record

if TYPE_CHECKING:
    from brookmere.run.progress import Progress

_MARKED_SECONDS = 1.2
_LEAST_ENTRY_WIDTH = 18


@dataclass(slots=True)
class Scene:
    """What has happened so far. Drawing it fills the terminal, whatever its size."""

    lines: deque[str] = field(default_factory=lambda: deque(maxlen=200))
    sent: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    changed: dict[str, float] = field(default_factory=dict)
    """When the count of each word last changed."""
    delays: deque[int] = field(default_factory=lambda: deque(maxlen=50))
    """The delays from a line to its count in milliseconds, once the backlog is processed."""
    made_at: int = field(default_factory=lambda: _now())
    counting_since: int | None = None
    """When the first count was seen, ignoring those of an earlier demo."""
    state: str = "starting"
    progress: Progress | None = None
    left: int = 0
    """Seconds until the end."""

    def send(self, lines: list[str]) -> None:
        """Record the lines that were written."""
        self.lines.extend(lines)
        self.sent += len(lines)

    def receive(self, records: list[Record]) -> None:
        """Record the counts that were read."""
        now = time.time()
        for record in records:
            self.counts[record.key] = record.value
            self.changed[record.key] = now
            if self.counting_since is not None and record.timestamp >= self.counting_since:
                self.delays.append(_now() - record.timestamp)
        if self.counting_since is None and any(record.timestamp >= self.made_at for record in records):
            self.counting_since = _now()

    def top(self) -> list[tuple[str, int]]:
        """Return words and counts, the most frequent first."""
        return sorted(self.counts.items(), key=lambda entry: (-entry[1], entry[0]))

    def delay(self) -> int | None:
        """Return the median delay of the last counts."""
        return sorted(self.delays)[len(self.delays) // 2] if self.delays else None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or console.height
        picture = Layout()
        body = Layout(name="body")
        picture.split_column(Layout(self._title(), size=1), body, Layout(self._foot(), size=2))
        left_width = min(46, options.max_width // 2)
        body.split_row(
            Layout(self._lines(height - 5), size=left_width),
            Layout(self._counts(height - 5, options.max_width - left_width - 4)),
        )
        yield picture

    def _title(self) -> Table:
        row = Table.grid(expand=True)
        row.add_column()
        row.add_column(justify="right")
        row.add_row(
            Text("Brookmere: counting words as they arrive", style="bold"),
            Text(f"{self.left} s left, any key quits", style="dim"),
        )
        return row

    def _lines(self, rows: int) -> Panel:
        shown = list(self.lines)[-rows:]
        text = Text(no_wrap=True, overflow="ellipsis")
        for number, line in enumerate(shown, start=1):
            text.append(f"{line}\n", style="bold" if number == len(shown) else "")
        return Panel(text, title=f"topic lines · {self.sent:,} in", title_align="left", border_style="blue")

    def _counts(self, rows: int, width: int) -> Panel:
        title = f"topic word-counts · {len(self.counts):,} words"
        if not self.counts:
            waiting = Text("The first batch takes longest, because Spark compiles its code.", style="dim")
            return Panel(waiting, title=title, title_align="left", border_style="green")
        columns = max(1, width // _LEAST_ENTRY_WIDTH)
        word_width = max(4, min(16, width // columns - 7))
        entries = self.top()[: rows * columns]
        table = Table.grid(padding=(0, 2, 0, 0))
        now = time.time()
        for row in range(min(rows, len(entries))):
            table.add_row(*(self._entry(word, count, now, word_width) for word, count in entries[row::rows]))
        return Panel(table, title=title, title_align="left", border_style="green")

    def _entry(self, word: str, count: int, now: float, width: int) -> Text:
        fresh = now - self.changed[word] < _MARKED_SECONDS
        name = word if len(word) <= width else f"{word[: width - 1]}…"
        return Text(
            f"{name:<{width}}{count:>4}{'+' if fresh else ' '}",
            style="bold green" if fresh else "",
            no_wrap=True,
        )

    def _foot(self) -> Text:
        if self.progress is None:
            return Text(self.state, style="dim")
        delay = self.delay()
        parts = [
            self.state,
            f"batch {self.progress.batch}",
            f"{self.progress.records_per_second:,.1f} lines/s",
            f"{self.progress.duration.total_seconds() * 1000:,.0f} ms per batch",
            f"lag {self.progress.lag:,}",
        ]
        seen = "" if delay is None else f"\nA count changes {delay:,} ms after its line was written."
        return Text.assemble(" · ".join(parts), (seen, "dim"))


def _now() -> int:
    return round(time.time() * 1000)

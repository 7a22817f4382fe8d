"""The live display of the leaderboard demo."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from brookmere.run.progress import Progress

Board = list[dict[str, Any]]
_MARKED_SECONDS = 1.2
_BEST = 3


@dataclass(slots=True)
class Standings:
    """The current boards, and counters about how they came about."""

    url: str
    sent: int = 0
    boards: dict[str, Board] = field(default_factory=dict)
    changed: dict[str, float] = field(default_factory=dict)
    """When each board last changed."""
    changes: int = 0
    state: str = "starting"
    progress: Progress | None = None
    left: int = 0
    """Seconds until the end."""

    def see(self, boards: Mapping[str, Board]) -> list[str]:
        """Record the current boards; return the games whose board changed."""
        news = [game for game in by_number(boards) if boards[game] != self.boards.get(game)]
        self.boards = {game: boards[game] for game in by_number(boards)}
        self.changed.update(dict.fromkeys(news, time.time()))
        self.changes += len(news)
        return news

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Group(self._title(), Text(""), self._table(), Text(""), self._foot())

    def _title(self) -> Table:
        row = Table.grid(expand=True)
        row.add_column()
        row.add_column(justify="right")
        row.add_row(
            Text.assemble(("Brookmere: best scores at ", "bold"), (self.url, "bold cyan")),
            Text(f"{self.left} s left, any key quits", style="dim"),
        )
        return row

    def _table(self) -> Table | Text:
        if not self.boards:
            return Text("The first batch takes longest, because Spark compiles its code.", style="dim")
        table = Table(box=None, pad_edge=False, expand=True, header_style="dim")
        for name in ("game", "first", "second", "third"):
            table.add_column(name, ratio=1, no_wrap=True, overflow="ellipsis")
        now = time.time()
        for game, board in self.boards.items():
            is_fresh = now - self.changed[game] < _MARKED_SECONDS
            cells = [f"{entry['playerName']} {entry['score']:,.0f}" for entry in board]
            table.add_row(
                name_of(board), *cells, *[""] * (_BEST - len(cells)), style="bold green" if is_fresh else ""
            )
        return table

    def _foot(self) -> Text:
        if self.progress is None:
            return Text(self.state, style="dim")
        parts = [
            self.state,
            f"{self.sent:,} scores in",
            f"{self.changes:,} changes",
            f"batch {self.progress.batch}",
            f"{self.progress.duration.total_seconds() * 1000:,.0f} ms per batch",
            f"lag {self.progress.lag:,}",
        ]
        return Text(" · ".join(parts))


def by_number(games: Iterable[str]) -> list[str]:
    """Return the ids of games in numeric order."""
    return sorted(games, key=int)


def name_of(board: Board) -> str:
    """Return the name of a board's game."""
    return str(board[0]["gameName"])


def board_line(board: Board) -> str:
    """Return a board as one line."""
    return ", ".join(f"{entry['playerName']} {entry['score']:,.0f}" for entry in board)

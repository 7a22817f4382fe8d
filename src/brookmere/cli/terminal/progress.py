"""Views of an application's progress: live, line by line, or as JSON."""

from __future__ import annotations

import json
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from brookmere.cli.terminal import console

if TYPE_CHECKING:
    from brookmere.run.progress import Progress

_LINE_SECONDS = 5.0


def progress_text(progress: Progress) -> str:
    """Return a one-line summary of a batch and the current lag."""
    return (
        f"batch {progress.batch:,} · {progress.records_per_second:,.0f} records/s · "
        f"{progress.duration / timedelta(milliseconds=1):,.0f} ms per batch · lag {progress.lag:,} · "
        f"state {console.size(progress.state_bytes)}"
    )


def total_text(progress: Progress) -> str:
    """Return how many records were processed and skipped since the start."""
    return f"{console.counted(progress.total_records, 'record')} · {progress.skipped:,} skipped"


def progress_json(progress: Progress, state: str) -> str:
    """Return the progress as a line of JSON."""
    fields: dict[str, Any] = {
        "state": state,
        "batch": progress.batch,
        "started": progress.started.isoformat(),
        "duration_ms": round(progress.duration / timedelta(milliseconds=1)),
        "records": progress.records,
        "total_records": progress.total_records,
        "records_per_second": round(progress.records_per_second, 1),
        "lag": progress.lag,
        "state_bytes": progress.state_bytes,
        "skipped": progress.skipped,
    }
    return json.dumps(fields)


class View:
    """A view that shows nothing, and the interface of the others."""

    def screen(self) -> AbstractContextManager[object]:
        """Return the context in which the view is visible."""
        return nullcontext()

    def show(self, state: str, latest: Progress | None, fresh: list[Progress]) -> None:
        """Show the state, the latest progress, and the batches completed since the last call."""


@dataclass(slots=True)
class PlainView(View):
    """Writes a line per change of state, and one about batches at most every few seconds."""

    application: str
    next_line: float = 0.0
    """The earliest time, by the monotonic clock, for the next line about a batch."""
    _unreported: Progress | None = None
    _state: str = ""

    def show(self, state: str, latest: Progress | None, fresh: list[Progress]) -> None:  # noqa: ARG002
        if fresh:
            self._unreported = fresh[-1]
        changed = state != self._state
        if self._unreported is not None and (changed or time.monotonic() >= self.next_line):
            total, batch = total_text(self._unreported), progress_text(self._unreported)
            console.say(f"{self.application}: {total} · {batch}")
            self._unreported = None
            self.next_line = time.monotonic() + _LINE_SECONDS
        if changed:
            self._state = state
            console.say(f"{self.application}: {state}")


@dataclass(slots=True)
class LiveView(View):
    """Updates two lines at the bottom of the terminal; all other output scrolls above them."""

    application: str
    _started: float = field(default_factory=time.monotonic)
    _live: Live | None = None
    _spinner: Spinner = field(default_factory=lambda: Spinner("dots"))

    def screen(self) -> AbstractContextManager[object]:
        self._live = Live(
            self._lines("starting", None),
            console=console.err,
            refresh_per_second=8,
            # Redirected output of the program must not end up on the terminal.
            redirect_stdout=console.out.is_terminal,
        )
        return self._live

    def show(self, state: str, latest: Progress | None, fresh: list[Progress]) -> None:  # noqa: ARG002
        if self._live is not None:
            self._live.update(self._lines(state, latest))

    def _lines(self, state: str, progress: Progress | None) -> Table:
        elapsed = timedelta(seconds=int(time.monotonic() - self._started))
        count = "" if progress is None else f" · {total_text(progress)}"
        lines = Table.grid(padding=(0, 1))
        ended = state in ("stopped", "failed")
        lines.add_row(
            Text("■", style="red" if state == "failed" else "green") if ended else self._spinner,
            Text.assemble((self.application, "bold"), f" {state} · {elapsed}{count}"),
        )
        if progress is not None:
            lines.add_row("", Text(progress_text(progress), style="dim"))
        return lines


class JsonView(View):
    """Writes each batch to stdout as a line of JSON."""

    def show(self, state: str, latest: Progress | None, fresh: list[Progress]) -> None:  # noqa: ARG002
        for progress in fresh:
            console.write(progress_json(progress, state))
        if fresh:
            console.out.file.flush()

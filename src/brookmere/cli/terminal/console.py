"""Text output of all commands: results on stdout, everything else on stderr."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

out = Console(highlight=False, emoji=False)
err = Console(highlight=False, emoji=False, stderr=True)


def say(text: str, *, style: str = "") -> None:
    """Write a line for people to stderr; it is not part of the result."""
    err.print(Text(text, style=style), soft_wrap=True)


def detail(text: str) -> None:
    """Write a line to stderr, with `brookmere -v` only."""
    if logging.getLogger("brookmere").isEnabledFor(logging.INFO):
        say(text, style="dim")


def write(text: str) -> None:
    """Write a line of the result to stdout, unchanged."""
    out.file.write(f"{text}\n")


def write_json(value: Any) -> None:
    """Write a value to stdout as indented JSON."""
    write(json.dumps(value, indent=2, ensure_ascii=False))


def table(*columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """Return an empty table in the style of all commands; the columns `numbers` are right-aligned."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        made.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    return made


def write_table(rows: RenderableType) -> None:
    """Write one or more tables to stdout, unwrapped unless stdout is a terminal."""
    if out.is_terminal:
        out.print(rows)
        return
    plain = Console(file=io.StringIO(), width=10_000, highlight=False, emoji=False)
    with plain.capture() as text:
        plain.print(rows)
    for line in text.get().splitlines():
        write(line.rstrip())


def counted(count: int, noun: str) -> str:
    """Return a number with its noun in singular or plural.

    >>> counted(1, "record"), counted(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size(count: float) -> str:
    """Return a human-readable number of bytes: 812 B, 1.4 MB.

    >>> size(812), size(1_400_000)
    ('812 B', '1.4 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


class LogLines(logging.Handler):
    """A log handler that writes lines to stderr, above the live display if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        style = (
            "red" if record.levelno >= logging.ERROR else "yellow" if record.levelno > logging.INFO else "dim"
        )
        say(self.format(record), style=style)


def show_logs(*, verbose: bool) -> None:
    """Show Brookmere's log: warnings always, each step only if `verbose`."""
    logger = logging.getLogger("brookmere")
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    logger.propagate = False
    # A download takes long enough to be worth a line.
    logging.getLogger("brookmere.jars").setLevel(logging.INFO)
    if not any(isinstance(handler, LogLines) for handler in logger.handlers):
        logger.addHandler(LogLines())

"""The `brookmere demo` command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from brookmere.cli.demo.leaderboard.show import watch_leaderboard
from brookmere.cli.demo.word_count import watch_word_count

_WORD_COUNT_SECONDS = 60
_LEADERBOARD_SECONDS = 600


class Show(StrEnum):
    WORD_COUNT = "word-count"
    LEADERBOARD = "leaderboard"


def demo(
    show: Annotated[
        Show,
        typer.Argument(
            metavar="DEMO",
            help="word-count, in the terminal; leaderboard, in the terminal and on a web page.",
        ),
    ] = Show.WORD_COUNT,
    seconds: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Stop this many seconds after the first results; by default 60, for the leaderboard 600.",
            show_default=False,
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="The directory for all files; by default a new temporary directory.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Watch a program at work: a word count or a leaderboard.

    Needs nothing but this installation. Stops by itself, on any key or on Ctrl-C, and shows what it did,
    where the topics are, and what to try next.

    \b
    Examples:
      brookmere demo --seconds 20
      brookmere demo leaderboard
    """
    match show:
        case Show.WORD_COUNT:
            watch_word_count(seconds or _WORD_COUNT_SECONDS, directory)
        case Show.LEADERBOARD:
            watch_leaderboard(seconds or _LEADERBOARD_SECONDS, directory)

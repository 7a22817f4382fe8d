"""Holds the parameters that several commands share, and turns their text into values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import typer

from brookmere.errors import CommandError


def directory_option(help: str, *names: str) -> Any:
    """Return an option that names a directory; without `names` it has that of its parameter."""
    return typer.Option(*names, metavar="DIR", help=help, show_default=False)


def text_option(name: str, metavar: str, help: str) -> Any:
    """Return an option that takes text."""
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


PROGRAM_HELP = "module:name or path/to/file.py:name; without a name, the only program there."
Program = Annotated[str, typer.Argument(metavar="PROGRAM", help=PROGRAM_HELP, show_default=False)]
AnyApplication = Annotated[
    str,
    typer.Argument(
        metavar="APP",
        help="The id of an application that has run, or a program: module:name or path/to/file.py:name.",
        show_default=False,
    ),
]
TopicsDir = Annotated[
    Path | None,
    directory_option("Where the topics lie; by default in $BROOKMERE_HOME/topics, or .brookmere/topics."),
]
StateDir = Annotated[
    Path | None,
    directory_option("Where the state lies; by default in $BROOKMERE_HOME/state, or .brookmere/state."),
]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "-c",
        metavar="KEY=VALUE",
        help="A setting by Kafka Streams' name; may be repeated.",
        show_default=False,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="A file of settings, as Java properties.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]
Partitions = Annotated[
    int, typer.Option("--partitions", "-p", min=1, metavar="N", help="How many partitions it gets.")
]


def settings(pairs: Iterable[str], option: str) -> dict[str, str]:
    """Turn texts of the form key=value into a mapping.

    >>> settings(["retention.ms=1000"], "--config")
    {'retention.ms': '1000'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise CommandError(
                f"{option} takes a setting and its value, found {pair!r}.\n"
                f"Write them with = between: {option} commit.interval.ms=100."
            )
        found[name.strip()] = value.strip()
    return found


def chosen_settings(
    pairs: Iterable[str] | None, topics_dir: Path | None, state_dir: Path | None
) -> dict[str, str]:
    """Return the settings that -c gives, and those that have options of their own, which win."""
    return {
        **settings(pairs or (), "-c"),
        **({} if topics_dir is None else {"topics.dir": str(topics_dir)}),
        **({} if state_dir is None else {"state.dir": str(state_dir)}),
    }


# Neighbours in a log often have the same time.
@lru_cache(maxsize=4096)
def shown_time(milliseconds: int) -> str:
    """Return a time for people, in UTC.

    >>> shown_time(1_700_000_000_123)
    '2023-11-14 22:13:20.123'
    """
    try:
        time = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(
            microsecond=milliseconds % 1000 * 1000
        )
    except (ValueError, OverflowError, OSError):
        # A log may hold times beyond what a calendar knows.
        return f"{milliseconds} ms"
    return time.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")


def read_time(text: str) -> int:
    """Return milliseconds since 1970 of a number or an ISO time, UTC where it names no zone.

    >>> read_time("2023-11-14T22:13:20.123Z"), read_time("1700000000123")
    (1700000000123, 1700000000123)
    """
    if text.strip().lstrip("-").isdecimal():
        return int(text)
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as failure:
        raise CommandError(
            f"{text!r} is not a time.\n"
            "Write milliseconds since 1970, or an ISO time such as 2025-01-31T12:00:00Z."
        ) from failure
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return (time - datetime.fromtimestamp(0, UTC)) // _MILLISECOND


_MILLISECOND = datetime.resolution * 1000

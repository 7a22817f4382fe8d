"""Arguments and options that several commands share, and how their text is parsed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import typer

from brookmere.errors import CommandError


def group(purpose: str, **options: Any) -> typer.Typer:
    """Return an empty command group with the help style of all commands; `options` are typer's."""
    return typer.Typer(
        help=purpose,
        no_args_is_help=True,
        # Plain help keeps paragraphs and examples as written, at any width.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        **options,
    )


def directory_option(help: str, *names: str) -> Any:
    """Return an option for a directory; without `names` it is named after its parameter."""
    return typer.Option(*names, metavar="DIR", help=help, show_default=False)


def text_option(name: str, metavar: str, help: str) -> Any:
    """Return an option that takes text."""
    return typer.Option(name, metavar=metavar, help=help, show_default=False)


PROGRAM_HELP = "module:name or path/to/file.py:name; the name may be omitted if there is only one program."
Program = Annotated[str, typer.Argument(metavar="PROGRAM", help=PROGRAM_HELP, show_default=False)]
AnyApplication = Annotated[
    str,
    typer.Argument(
        metavar="APP",
        help="The id of an application that has run before, or a program: module:name or "
        "path/to/file.py:name.",
        show_default=False,
    ),
]
TopicsDir = Annotated[
    Path | None,
    directory_option("The directory of the topics; by default $BROOKMERE_HOME/topics, or .brookmere/topics."),
]
StateDir = Annotated[
    Path | None,
    directory_option("The directory of the state; by default $BROOKMERE_HOME/state, or .brookmere/state."),
]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "-c",
        metavar="KEY=VALUE",
        help="A setting, named as in Kafka Streams; may be repeated.",
        show_default=False,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="A settings file in Java properties format.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Partitions = Annotated[
    int, typer.Option("--partitions", "-p", min=1, metavar="N", help="The number of partitions.")
]


def settings(pairs: Iterable[str], option: str) -> dict[str, str]:
    """Parse texts of the form key=value.

    >>> settings(["retention.ms=1000"], "--config")
    {'retention.ms': '1000'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise CommandError(
                f"{option} expects a setting and its value, found {pair!r}.\n"
                f"Separate them by =, for example: {option} commit.interval.ms=100."
            )
        found[name.strip()] = value.strip()
    return found


def chosen_settings(
    pairs: Iterable[str] | None, topics_dir: Path | None, state_dir: Path | None
) -> dict[str, str]:
    """Return the settings given with -c, overridden by those with dedicated options."""
    return {
        **settings(pairs or (), "-c"),
        **({} if topics_dir is None else {"topics.dir": str(topics_dir)}),
        **({} if state_dir is None else {"state.dir": str(state_dir)}),
    }


# Consecutive records of a log often have the same time.
@lru_cache(maxsize=4096)
def shown_time(milliseconds: int) -> str:
    """Return a human-readable time in UTC.

    >>> shown_time(1_700_000_000_123)
    '2023-11-14 22:13:20.123'
    """
    try:
        time = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(
            microsecond=milliseconds % 1000 * 1000
        )
    except (ValueError, OverflowError, OSError):
        # A log may hold times outside the range of datetime.
        return f"{milliseconds} ms"
    return time.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")


def read_time(text: str) -> int:
    """Parse milliseconds since 1970 or an ISO time, which is in UTC unless it names a zone.

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

"""`brookmere reset`: make an application start from scratch, after showing what that deletes."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from brookmere.cli.options.parameters import (
    Config,
    ConfigFile,
    Program,
    StateDir,
    TopicsDir,
    chosen_settings,
    read_time,
    shown_time,
)
from brookmere.cli.options.settings import application
from brookmere.cli.programs.load import load
from brookmere.cli.terminal import console
from brookmere.errors import CommandError
from brookmere.topics import AnyTopic
from brookmere.topics.times import now_ms

if TYPE_CHECKING:
    from brookmere.run.launch.reset import Reset, Target

_DURATION = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)


def reset(
    program: Program,
    to_earliest: Annotated[
        bool, typer.Option("--to-earliest", help="Start from the first available record (the default).")
    ] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest", help="Start after the last record.")] = False,
    to_datetime: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Start from the first record at or after this time: milliseconds since 1970, or an ISO "
            "time.",
            show_default=False,
        ),
    ] = None,
    to_offset: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Start from this offset, or the nearest one that a partition has.",
            show_default=False,
        ),
    ] = None,
    by_duration: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Start this far back from now, for example PT1H or P1DT12H.",
            show_default=False,
        ),
    ] = None,
    input_topics: Annotated[
        str | None,
        typer.Option(
            metavar="TOPIC,TOPIC",
            help="Reset only these topics; the application resumes the others from its last commit.",
            show_default=False,
        ),
    ] = None,
    execute: Annotated[
        bool, typer.Option("--execute", help="Perform the reset; without this option it is only shown.")
    ] = False,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
) -> None:
    """Reset an application so that its next run starts from scratch.

    Shows where it would start reading and what would be deleted; --execute does it. A reset deletes the
    state, the positions and the internal topics of the application. Output topics stay as they are: records
    that are read again are written to them again. The application must not be running.

    \b
    Examples:
      brookmere reset word_count:app
      brookmere reset word_count:app --to-datetime 2025-01-31T12:00:00Z --execute
      brookmere reset word_count:app --by-duration PT1H --input-topics lines --execute
    """
    from brookmere.run.launch.reset import execute as do
    from brookmere.run.launch.reset import plan_reset

    target = _target(to_earliest, to_latest, to_datetime, to_offset, by_duration)
    only = None if input_topics is None else [name.strip() for name in input_topics.split(",")]
    loaded = load(program)
    chosen = chosen_settings(config, topics_dir, state_dir)
    made = application(loaded, config_file, chosen)
    planned = plan_reset(loaded, made.config, made.state_directory, target, only)
    _write(planned, done=execute)
    if execute:
        do(planned, made.config)
        console.say(f"{planned.application} is reset; its next run starts there.")
    else:
        console.say("Nothing was changed. Run the same command with --execute to reset it.")


def _target(
    to_earliest: bool,
    to_latest: bool,
    to_datetime: str | None,
    to_offset: int | None,
    by_duration: str | None,
) -> Target:
    given = {
        "--to-earliest": to_earliest,
        "--to-latest": to_latest,
        "--to-datetime": to_datetime is not None,
        "--to-offset": to_offset is not None,
        "--by-duration": by_duration is not None,
    }
    named = [option for option, is_given in given.items() if is_given]
    if len(named) > 1:
        raise CommandError(
            f"{' and '.join(named)} cannot be combined: each says where to start.\nGive only one of them."
        )
    if to_latest:
        return lambda topic: topic.end_offsets()
    if to_datetime is not None:
        return _at(read_time(to_datetime))
    if by_duration is not None:
        return _at(now_ms() - read_duration(by_duration) // timedelta(milliseconds=1))
    if to_offset is not None:
        return _offset(to_offset)
    return lambda topic: topic.start_offsets()


def _at(moment: int) -> Target:
    return lambda topic: topic.offsets_for_time(moment)


def _offset(wanted: int) -> Target:
    def offsets(topic: AnyTopic) -> list[int]:
        ends = zip(topic.start_offsets(), topic.end_offsets(), strict=True)
        return [min(max(wanted, start), end) for start, end in ends]

    return offsets


def read_duration(text: str) -> timedelta:
    """Parse an ISO 8601 duration.

    >>> read_duration("P1DT2H30M")
    datetime.timedelta(days=1, seconds=9000)
    """
    found = _DURATION.fullmatch(text.strip())
    parts = {unit: float(count) for unit, count in found.groupdict().items() if count} if found else {}
    if not parts:
        raise CommandError(
            f"{text!r} is not a duration.\nWrite an ISO 8601 duration, such as PT1H, PT30M or P1DT12H."
        )
    return timedelta(**parts)


def _write(planned: Reset, *, done: bool) -> None:
    console.write(f"Reset of {planned.application}, at {shown_time(now_ms())} UTC\n")
    if planned.moves:
        numbers = ("PARTITION", "CURRENT OFFSET", "NEW OFFSET")
        rows = console.table("TOPIC", *numbers, numbers=numbers)
        for move in planned.moves:
            old = "-" if move.old is None else f"{move.old:,}"
            rows.add_row(move.topic, f"{move.partition}", old, f"{move.new:,}")
        console.write_table(rows)
    else:
        console.write("It has no input topics.")
    console.write("")
    gone = [
        *(f"topic {name}" for name in planned.topics),
        *(str(path) for path in planned.paths),
        *(f"consumer group {name}" for name in planned.groups),
    ]
    for what in gone or ["nothing"]:
        console.write(f"{'Deleting' if done else 'To be deleted'}: {what}")
    if planned.on_kafka:
        verb = "Setting" if done else "To be set"
        console.write(f"{verb}: the offsets of the consumer group {planned.application}")
    for name in planned.left:
        console.write(f"Kept: topic {name}, which belongs to no store of this program")

"""Turns the commands on topics into changes and tables of a directory of topics."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from brookmere.cli import console
from brookmere.cli.parameters import (
    AsJson,
    Partitions,
    TopicName,
    TopicsDir,
    settings,
    shown_time,
    topic_names,
)
from brookmere.topics import Topic, TopicInfo, Topics

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, create, describe, delete, clean and repair topics.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Names = Annotated[
    list[str],
    typer.Argument(metavar="TOPIC", help="Names of topics.", autocompletion=topic_names, show_default=False),
]


@app.command("list")
def list_topics(topics_dir: TopicsDir = None, as_json: AsJson = False) -> None:
    """List the topics with what they hold.

    \b
    Example:
      brookmere topics list
    """
    topics = Topics(topics_dir)
    found = [topics[name].describe() for name in topics]
    if as_json:
        console.write_json([_summary(info) for info in found])
        return
    if not found:
        console.say(f"There are no topics in {topics.directory}. `brookmere topics create NAME` makes one.")
        return
    numbers = ("PARTITIONS", "RECORDS", "SIZE")
    rows = console.table("TOPIC", *numbers, "LAST RECORD (UTC)", "CLEANUP", numbers=numbers)
    for info in found:
        last = max((p.last_timestamp for p in info.partitions if p.last_timestamp is not None), default=None)
        rows.add_row(
            info.name,
            f"{len(info.partitions)}",
            f"{info.records:,}",
            console.size(info.bytes),
            "-" if last is None else shown_time(last),
            info.config.cleanup_policy,
        )
    console.write_table(rows)


@app.command()
def create(
    names: Names,
    partitions: Partitions = 1,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config", "-c", metavar="KEY=VALUE", help="A setting by Kafka's name; may be repeated.",
            show_default=False,
        ),
    ] = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="Leave a topic alone that is there already.")
    ] = False,
    topics_dir: TopicsDir = None,
) -> None:  # fmt: skip
    """Create topics.

    \b
    Examples:
      brookmere topics create lines
      brookmere topics create orders -p 4 -c cleanup.policy=compact -c retention.ms=86400000
    """
    topics = Topics(topics_dir)
    chosen = settings(config or (), "--config")
    for name in names:
        there = if_not_exists and name in topics
        topic = topics.create(name, partitions, chosen, exist_ok=if_not_exists)
        count = console.counted(topic.partitions, "partition")
        words = "is there already" if there else "created"
        console.say(f"Topic {name} {words}: {count}, in {topic.directory}.")


@app.command()
def describe(name: TopicName, topics_dir: TopicsDir = None, as_json: AsJson = False) -> None:
    """Show the partitions, the settings and the writers of a topic.

    \b
    Example:
      brookmere topics describe word-counts
    """
    topic = Topics(topics_dir)[name]
    info = topic.describe()
    if as_json:
        console.write_json(_details(topic, info))
        return
    console.write(f"Topic {info.name} in {topic.directory}")
    console.write(f"{console.counted(info.records, 'record')}, {console.size(info.bytes)}\n")
    numbers = ("PARTITION", "FIRST OFFSET", "NEXT OFFSET", "RECORDS", "SIZE", "SEGMENTS")
    rows = console.table(*numbers, "LAST RECORD (UTC)", numbers=numbers)
    for number, part in enumerate(info.partitions):
        last = "-" if part.last_timestamp is None else shown_time(part.last_timestamp)
        counts = (f"{part.start:,}", f"{part.end:,}", f"{part.records:,}")
        rows.add_row(f"{number}", *counts, console.size(part.bytes), f"{part.segments:,}", last)
    console.write_table(rows)
    console.write("")
    settings_of = console.table("SETTING", "VALUE")
    for setting, value in info.config.by_name().items():
        settings_of.add_row(setting, str(value))
    console.write_table(settings_of)
    if info.writers:
        console.write("")
        writers = console.table("WRITTEN BY", "LAST BATCH", numbers=("LAST BATCH",))
        for application, position in info.writers.items():
            writers.add_row(application, f"{position.batch}")
        console.write_table(writers)


@app.command()
def delete(
    names: Names,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    topics_dir: TopicsDir = None,
) -> None:
    """Delete topics with all their records, after asking.

    \b
    Example:
      brookmere topics delete old-orders --yes
    """
    topics = Topics(topics_dir)
    found = [topics[name].describe() for name in names]
    for info in found:
        if not yes:
            typer.confirm(
                f"Delete the topic {info.name} with {console.counted(info.records, 'record')}?",
                abort=True,
                err=True,
            )
        topics.delete(info.name)
        console.say(f"Topic {info.name} deleted.")


@app.command()
def clean(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC", help="Names of topics; all if none is given.", autocompletion=topic_names,
            show_default=False,
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Compact and merge also what could wait.")] = False,
    topics_dir: TopicsDir = None,
) -> None:  # fmt: skip
    """Delete what retention no longer keeps, compact, and merge small files.

    Writers do this by themselves now and then.

    \b
    Example:
      brookmere topics clean --full
    """
    topics = Topics(topics_dir)
    for name in names or topics.names():
        done = topics[name].maintain(full=full)
        console.say(
            f"Topic {name}: {done.expired_records:,} records expired, {done.compacted_records:,} compacted, "
            f"{done.merged_segments:,} files merged, {done.deleted_files:,} files deleted."
        )


@app.command()
def repair(
    name: TopicName,
    execute: Annotated[
        bool, typer.Option("--execute", help="Take the damaged files out; their records are lost.")
    ] = False,
    topics_dir: TopicsDir = None,
) -> None:
    """Look at every file of a topic, tell what is damaged, and take it out when told to.

    The exit code is 1 if something is damaged and nothing was done about it.

    \b
    Example:
      brookmere topics repair orders
    """
    found = Topics(topics_dir)[name].repair(execute=execute)
    console.write(str(found))
    if found and not execute:
        lost = console.counted(found.lost_records, "record")
        console.say(f"`brookmere topics repair {name} --execute` gives up {lost}.")
        raise typer.Exit(1)


def _summary(info: TopicInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "partitions": len(info.partitions),
        "records": info.records,
        "bytes": info.bytes,
        "last_timestamp": max(
            (p.last_timestamp for p in info.partitions if p.last_timestamp is not None), default=None
        ),
        "cleanup.policy": info.config.cleanup_policy,
    }


def _details(topic: Topic, info: TopicInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "id": info.id,
        "directory": str(topic.directory),
        "partitions": [{"partition": n, **asdict(part)} for n, part in enumerate(info.partitions)],
        "config": info.config.by_name(),
        "writers": {name: asdict(position) for name, position in info.writers.items()},
    }

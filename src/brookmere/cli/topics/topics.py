"""The `brookmere topics` commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from brookmere.cli.options.parameters import AsJson, Partitions, TopicsDir, group, settings
from brookmere.cli.options.topics_location import (
    BootstrapServer,
    ClientConfig,
    ClientSettings,
    OnlyClientConfig,
    TopicName,
    chosen_topics,
    refuse_kafka,
    topic_names,
    where,
)
from brookmere.cli.terminal import console
from brookmere.cli.topics.topic_tables import details, summary, write_details, write_summaries
from brookmere.errors import CommandError
from brookmere.topics import Topic, Topics

if TYPE_CHECKING:
    from brookmere.topics.kafka import KafkaTopic

app = group("List, create, describe, delete, clean and repair topics.")

NotForKafka = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="Not supported: Kafka does this itself.",
        show_default=False,
    ),
]
Names = Annotated[
    list[str],
    typer.Argument(
        metavar="TOPIC", help="The names of the topics.", autocompletion=topic_names, show_default=False
    ),
]


@app.command("list")
def list_topics(
    topics_dir: TopicsDir = None,
    bootstrap_server: BootstrapServer = None,
    client_config: ClientConfig = None,
    client: ClientSettings = None,
    as_json: AsJson = False,
) -> None:
    """List the topics and their sizes.

    \b
    Examples:
      brookmere topics list
      brookmere topics list --bootstrap-server localhost:9092
    """
    topics = chosen_topics(topics_dir, bootstrap_server, client_config, client)
    found = [topics[name].describe() for name in topics]
    if as_json:
        console.write_json([summary(info) for info in found])
    elif found:
        write_summaries(found)
    else:
        console.say(f"There are no topics {where(topics)}. `{topics.command('create NAME')}` creates one.")


@app.command()
def create(
    names: Names,
    partitions: Partitions = 1,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config", "-c", metavar="KEY=VALUE", help="A setting, named as in Kafka; may be repeated.",
            show_default=False,
        ),
    ] = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="Do nothing if the topic already exists.")
    ] = False,
    replication: Annotated[
        int | None,
        typer.Option(
            "--replication-factor", min=1, metavar="N", help="On Kafka: the number of copies.",
            show_default=False,
        ),
    ] = None,
    topics_dir: TopicsDir = None,
    bootstrap_server: BootstrapServer = None,
    client_config: OnlyClientConfig = None,
) -> None:  # fmt: skip
    """Create topics.

    \b
    Examples:
      brookmere topics create lines
      brookmere topics create orders -p 4 -c cleanup.policy=compact -c retention.ms=86400000
      brookmere topics create orders -p 4 --bootstrap-server localhost:9092
    """
    topics = chosen_topics(topics_dir, bootstrap_server, client_config)
    chosen = settings(config or (), "--config")
    for name in names:
        there = if_not_exists and name in topics
        topic: Topic | KafkaTopic
        if isinstance(topics, Topics):
            _refuse_copies(replication)
            topic = topics.create(name, partitions, chosen, exist_ok=if_not_exists)
        else:
            topic = topics.create(name, partitions, chosen, exist_ok=if_not_exists, replication=replication)
        count = console.counted(topic.partitions, "partition")
        words = "already exists" if there else "created"
        place = f"in {topic.directory}" if isinstance(topic, Topic) else where(topics)
        console.say(f"Topic {name} {words}: {count}, {place}.")


def _refuse_copies(replication: int | None) -> None:
    if replication is not None:
        raise CommandError(
            "--replication-factor applies to Kafka topics, but these are embedded topics, which "
            "have one copy.\n"
            "Omit it, or select Kafka with --bootstrap-server."
        )


@app.command()
def describe(
    name: TopicName,
    topics_dir: TopicsDir = None,
    bootstrap_server: BootstrapServer = None,
    client_config: ClientConfig = None,
    client: ClientSettings = None,
    as_json: AsJson = False,
) -> None:
    """Show the partitions, settings and writers of a topic.

    \b
    Examples:
      brookmere topics describe word-counts
      brookmere topics describe word-counts --bootstrap-server localhost:9092
    """
    topics = chosen_topics(topics_dir, bootstrap_server, client_config, client)
    topic = topics[name]
    place = topic.directory if isinstance(topic, Topic) else None
    info = topic.describe()
    if as_json:
        console.write_json(details(info, place))
    else:
        write_details(info, f"in {place}" if place else where(topics))


@app.command()
def delete(
    names: Names,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    topics_dir: TopicsDir = None,
    bootstrap_server: BootstrapServer = None,
    client_config: ClientConfig = None,
    client: ClientSettings = None,
) -> None:
    """Delete topics with all their records, after confirmation.

    \b
    Example:
      brookmere topics delete old-orders --yes
    """
    topics = chosen_topics(topics_dir, bootstrap_server, client_config, client)
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
            metavar="TOPIC", help="The names of the topics; all topics by default.",
            autocompletion=topic_names, show_default=False,
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compact and merge everything, even where it is not due yet.")
    ] = False,
    topics_dir: TopicsDir = None,
    bootstrap_server: NotForKafka = None,
) -> None:  # fmt: skip
    """Delete expired records, compact, and merge small files.

    Writers also do this from time to time.

    \b
    Example:
      brookmere topics clean --full
    """
    refuse_kafka("clean", bootstrap_server)
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
        bool, typer.Option("--execute", help="Remove the damaged files; their records are lost.")
    ] = False,
    topics_dir: TopicsDir = None,
    bootstrap_server: NotForKafka = None,
) -> None:
    """Find damaged files of a topic, and remove them.

    Only reports the damage, unless --execute is given. The exit code is 1 if a file is damaged and was not
    removed.

    \b
    Example:
      brookmere topics repair orders
    """
    refuse_kafka("repair", bootstrap_server)
    found = Topics(topics_dir)[name].repair(execute=execute)
    console.write(str(found))
    if found and not execute:
        lost = console.counted(found.lost_records, "record")
        console.say(f"`brookmere topics repair {name} --execute` discards {lost}.")
        raise typer.Exit(1)

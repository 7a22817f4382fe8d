"""Turns the commands on topics into changes and tables of a directory of topics, or of Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from brookmere.cli.options.command_group import group
from brookmere.cli.options.parameters import AsJson, Partitions, TopicsDir, settings
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
from brookmere.cli.topics.tables import details, summary, write_details, write_summaries
from brookmere.errors import CommandError
from brookmere.topics import Topic, Topics

if TYPE_CHECKING:
    from brookmere.topics.kafka import KafkaTopic

app = group("List, create, describe, delete, clean and repair topics.")

NotForKafka = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server", metavar="HOST:PORT", help="Refused: Kafka does this itself.", show_default=False
    ),
]
Names = Annotated[
    list[str],
    typer.Argument(metavar="TOPIC", help="Names of topics.", autocompletion=topic_names, show_default=False),
]


@app.command("list")
def list_topics(
    topics_dir: TopicsDir = None,
    bootstrap_server: BootstrapServer = None,
    client_config: ClientConfig = None,
    client: ClientSettings = None,
    as_json: AsJson = False,
) -> None:
    """List the topics with what they hold.

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
        console.say(f"There are no topics {where(topics)}. `{topics.command('create NAME')}` makes one.")


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
    replication: Annotated[
        int | None,
        typer.Option(
            "--replication-factor", min=1, metavar="N", help="On Kafka: how many copies it gets.",
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
        words = "is there already" if there else "created"
        place = f"in {topic.directory}" if isinstance(topic, Topic) else where(topics)
        console.say(f"Topic {name} {words}: {count}, {place}.")


def _refuse_copies(replication: int | None) -> None:
    if replication is not None:
        raise CommandError(
            "--replication-factor is for topics of Kafka, and these are embedded ones, which have one copy.\n"
            "Leave it out, or name Kafka with --bootstrap-server."
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
    """Show the partitions, the settings and the writers of a topic.

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
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    topics_dir: TopicsDir = None,
    bootstrap_server: BootstrapServer = None,
    client_config: ClientConfig = None,
    client: ClientSettings = None,
) -> None:
    """Delete topics with all their records, after asking.

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
            metavar="TOPIC", help="Names of topics; all if none is given.", autocompletion=topic_names,
            show_default=False,
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Compact and merge also what could wait.")] = False,
    topics_dir: TopicsDir = None,
    bootstrap_server: NotForKafka = None,
) -> None:  # fmt: skip
    """Delete what retention no longer keeps, compact, and merge small files.

    Writers do this by themselves now and then.

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
        bool, typer.Option("--execute", help="Take the damaged files out; their records are lost.")
    ] = False,
    topics_dir: TopicsDir = None,
    bootstrap_server: NotForKafka = None,
) -> None:
    """Look at every file of a topic, tell what is damaged, and take it out when told to.

    The exit code is 1 if something is damaged and nothing was done about it.

    \b
    Example:
      brookmere topics repair orders
    """
    refuse_kafka("repair", bootstrap_server)
    found = Topics(topics_dir)[name].repair(execute=execute)
    console.write(str(found))
    if found and not execute:
        lost = console.counted(found.lost_records, "record")
        console.say(f"`brookmere topics repair {name} --execute` gives up {lost}.")
        raise typer.Exit(1)

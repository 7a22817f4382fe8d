"""The options that select embedded topics in a directory or those of a Kafka cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from brookmere.cli.options.parameters import settings
from brookmere.config import read
from brookmere.errors import BrookmereError, CommandError
from brookmere.topics import Topics, open_topics

if TYPE_CHECKING:
    from brookmere.topics.kafka import KafkaTopics

_COMPLETION_MS = 1500


def _file_option(*names: str) -> Any:
    return typer.Option(
        *names,
        metavar="FILE",
        help="Settings for Kafka's clients or an application, in Java properties format.",
        show_default=False,
    )


BootstrapServer = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="Use the topics of this Kafka cluster; the setting bootstrap.servers.",
        show_default=False,
    ),
]
ClientConfig = Annotated[Path | None, _file_option("--client-config", "--config")]
# For commands where --config has another meaning.
OnlyClientConfig = Annotated[Path | None, _file_option("--client-config")]
ClientSettings = Annotated[
    list[str] | None,
    typer.Option(
        "-c",
        metavar="KEY=VALUE",
        help="A setting for Kafka's clients; may be repeated.",
        show_default=False,
    ),
]


def chosen_topics(
    topics_dir: Path | None,
    bootstrap_server: str | None = None,
    file: Path | None = None,
    pairs: Sequence[str] | None = None,
) -> Topics | KafkaTopics:
    """Return the topics that a command works on; options override -c, and -c overrides the file."""
    given: dict[str, Any] = settings(pairs or (), "-c")
    if bootstrap_server is not None:
        given["bootstrap.servers"] = bootstrap_server
    if topics_dir is not None:
        if "bootstrap.servers" in given:
            raise CommandError(
                f"--topics-dir {topics_dir} selects embedded topics, but bootstrap.servers "
                f"{given['bootstrap.servers']} selects Kafka.\nGive only one of them."
            )
        return Topics(topics_dir)
    if file is None:
        return open_topics(read(given))
    # Validated separately, so that errors refer to the command line and not to the file.
    read({"bootstrap.servers": "anywhere", **given})
    return open_topics(read(file, **{name.replace(".", "__"): value for name, value in given.items()}))


def refuse_kafka(command: str, bootstrap_server: str | None) -> None:
    """Raise an error for a command that works on embedded topics only."""
    if bootstrap_server is not None:
        raise CommandError(
            f"`brookmere topics {command}` works on embedded topics only, but --bootstrap-server "
            "selects Kafka.\n"
            "Kafka maintains the files of its topics itself; there is nothing to do."
        )


def where(topics: Topics | KafkaTopics) -> str:
    """Return a human-readable location of topics."""
    return f"in {topics.directory}" if isinstance(topics, Topics) else f"at {topics.bootstrap_servers}"


def topic_names(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a topic."""
    given = context.params
    server, pairs = given.get("bootstrap_server"), list(given.get("client") or ())
    if server or pairs:
        # Completion must respond quickly.
        pairs.append(f"default.api.timeout.ms={_COMPLETION_MS}")
    try:
        names = chosen_topics(given.get("topics_dir"), server, given.get("client_config"), pairs).names()
    except BrookmereError:
        return []
    return [name for name in names if name.startswith(incomplete)]


TopicName = Annotated[
    str,
    typer.Argument(
        metavar="TOPIC", help="The name of the topic.", autocompletion=topic_names, show_default=False
    ),
]

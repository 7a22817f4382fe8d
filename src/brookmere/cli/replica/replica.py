"""The `brookmere replica` command: a standby that follows the changelogs of an application."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from brookmere.cli.options.parameters import (
    AnyApplication,
    Config,
    ConfigFile,
    StateDir,
    TopicsDir,
    chosen_settings,
    directory_option,
)
from brookmere.cli.options.tokens import ServeAddress, TokenFile

StoreNames = Annotated[
    list[str] | None,
    typer.Option(
        "--store",
        metavar="NAME",
        help="Only this store; may be repeated. By default, all stores.",
        show_default=False,
    ),
]
ReplicaDir = Annotated[
    Path | None,
    directory_option(
        "The directory of its files; by default replicas/NAME in the state directory of the application.",
        "--dir",
    ),
]
InMemory = Annotated[
    bool, typer.Option("--in-memory", help="Keep no files; always read the changelogs from the beginning.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def replica(
    app: AnyApplication,
    store: StoreNames = None,
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="A name that distinguishes this replica from the application's other ones."
        ),
    ] = "standby-1",
    directory: ReplicaDir = None,
    in_memory: InMemory = False,
    until_ready: Annotated[
        bool, typer.Option("--until-ready", help="Exit once the replica has caught up.")
    ] = False,
    serve: ServeAddress = None,
    token_file: TokenFile = None,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
    quiet: Quiet = False,
) -> None:
    """Run a replica of an application's stores until Ctrl-C.

    A replica follows the changelogs, whether the application is running or not, and resumes from its own
    files the next time. It needs no Spark if the application has run before. Ctrl-C or SIGTERM stops it with
    exit code 0.

    \b
    Examples:
      brookmere replica word-count
      brookmere replica word-count --store counts --name standby-2
      brookmere replica word-count --serve 127.0.0.1:7001
      brookmere replica word_count:app --until-ready -c bootstrap.servers=127.0.0.1:9092
    """
    # Replicas are slow to import, which other commands should not pay for.
    from brookmere.cli.programs.applications import known_application
    from brookmere.cli.replica.lifecycle import keep_replica, make_replica
    from brookmere.cli.replica.server_options import prepared

    known = known_application(app, config_file, chosen_settings(config, topics_dir, state_dir))
    serving = None if serve is None else prepared(serve, token_file, known.found)
    made = make_replica(known, known.stores(store or ()), name, directory, in_memory=in_memory)
    keep_replica(known, made, serving, until_ready=until_ready, quiet=quiet)

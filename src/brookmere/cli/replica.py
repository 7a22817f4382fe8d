"""Turns an application into a standby: a process that follows the changelogs of its stores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from brookmere.cli import console
from brookmere.cli.applications import known_application
from brookmere.cli.parameters import (
    AnyApplication,
    Config,
    ConfigFile,
    StateDir,
    TopicsDir,
    chosen_settings,
    directory_option,
)
from brookmere.cli.replicas import follow, make_replica, troubles_in_view, where
from brookmere.cli.supervise import stop_signals

StoreNames = Annotated[
    list[str] | None,
    typer.Option(
        "--store",
        metavar="NAME",
        help="Only this store; may be repeated. By default all.",
        show_default=False,
    ),
]
ReplicaDir = Annotated[
    Path | None,
    directory_option(
        "Where its files lie; by default replicas/NAME in the state of the application.", "--dir"
    ),
]
InMemory = Annotated[
    bool, typer.Option("--in-memory", help="Keep no files: read the changelogs from their beginning.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def replica(
    app: AnyApplication,
    store: StoreNames = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Tells one replica of an application from another.")
    ] = "standby-1",
    directory: ReplicaDir = None,
    in_memory: InMemory = False,
    until_ready: Annotated[
        bool, typer.Option("--until-ready", help="End when everything that is there has been read.")
    ] = False,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
    quiet: Quiet = False,
) -> None:
    """Keep a replica of an application's stores, until Ctrl-C.

    A replica follows the changelogs, whether the application runs or not, and goes on from its own files the
    next time. It needs no Spark where the application has run once. Ctrl-C or SIGTERM ends it with exit
    code 0.

    \b
    Examples:
      brookmere replica word-count
      brookmere replica word-count --store counts --name standby-2
      brookmere replica word_count:app --until-ready -c bootstrap.servers=127.0.0.1:9092
    """
    known = known_application(app, config_file, chosen_settings(config, topics_dir, state_dir))
    made = make_replica(known, known.stores(store or ()), name, directory, in_memory=in_memory)
    if not quiet:
        console.say(f"{known.id}, replica {name}: {where(known)}; Ctrl-C stops.")
    with stop_signals() as asked, troubles_in_view(), made:
        follow(made, asked, until_ready=until_ready, quiet=quiet)

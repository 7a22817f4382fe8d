"""Turns an application into a server of its stores: a replica of them that answers over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from brookmere.cli.options.parameters import (
    AnyApplication,
    Config,
    ConfigFile,
    StateDir,
    TopicsDir,
    chosen_settings,
)
from brookmere.cli.options.tokens import TokenFile
from brookmere.cli.replica.replica import InMemory, Quiet, ReplicaDir, StoreNames


def serve(
    app: AnyApplication,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Where to listen; 0.0.0.0 is for other machines, too.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, metavar="PORT", help="0 takes a free one.")
    ] = 7000,
    token_file: TokenFile = None,
    store: StoreNames = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Tells one replica of an application from another.")
    ] = "server",
    directory: ReplicaDir = None,
    in_memory: InMemory = False,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
    quiet: Quiet = False,
) -> None:
    """Serve the stores of an application over HTTP, until Ctrl-C.

    The answers come from a replica in this process, whether the application runs or not; Spark is not needed
    where it has run once. If APP is a program, the `routes` of its module are served, too: a FastAPI router
    or a list of them. Several servers, with names of their own, know of each other.

    \b
    Examples:
      brookmere serve word-count
      brookmere serve examples/leaderboard.py --port 7001 --name second
      brookmere serve word-count --host 0.0.0.0 --token-file token.txt
    """
    # Replicas take a while to load, which the other commands need not wait for.
    from brookmere.cli.programs.applications import known_application
    from brookmere.cli.replica.local import keep_replica, make_replica
    from brookmere.cli.replica.server_options import prepared

    known = known_application(app, config_file, chosen_settings(config, topics_dir, state_dir))
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    serving = prepared(address, token_file, known.found)
    made = make_replica(known, known.stores(store or ()), name, directory, in_memory=in_memory)
    keep_replica(known, made, serving, quiet=quiet)

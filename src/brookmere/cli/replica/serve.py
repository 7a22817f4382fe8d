"""The `brookmere serve` command: serve the stores of an application over HTTP."""

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
        str,
        typer.Option(metavar="HOST", help="The address to listen on; 0.0.0.0 also admits other machines."),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", "-p", min=0, max=65535, metavar="PORT", help="The port; 0 chooses a free one."
        ),
    ] = 7000,
    token_file: TokenFile = None,
    store: StoreNames = None,
    name: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="A name that distinguishes this replica from the application's other ones."
        ),
    ] = "server",
    directory: ReplicaDir = None,
    in_memory: InMemory = False,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
    quiet: Quiet = False,
) -> None:
    """Serve the stores of an application over HTTP until Ctrl-C.

    The rows come from a replica in this process, whether the application is running or not; Spark is not
    needed if it has run before. If APP is a program, the `routes` of its module are served as well: a FastAPI
    router or a list of them. Several servers with different names find each other.

    \b
    Examples:
      brookmere serve word-count
      brookmere serve examples/leaderboard.py --port 7001 --name second
      brookmere serve word-count --host 0.0.0.0 --token-file token.txt
    """
    # Replicas are slow to import, which other commands should not pay for.
    from brookmere.cli.programs.applications import known_application
    from brookmere.cli.replica.lifecycle import keep_replica, make_replica
    from brookmere.cli.replica.server_options import prepared

    known = known_application(app, config_file, chosen_settings(config, topics_dir, state_dir))
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    serving = prepared(address, token_file, known.found)
    made = make_replica(known, known.stores(store or ()), name, directory, in_memory=in_memory)
    keep_replica(known, made, serving, quiet=quiet)

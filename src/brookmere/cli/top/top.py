"""Turns the status of an application into a screen that follows it."""

from __future__ import annotations

from typing import Annotated

import typer

from brookmere.cli.options.parameters import (
    AnyApplication,
    Config,
    ConfigFile,
    StateDir,
    chosen_settings,
    text_option,
)
from brookmere.cli.options.tokens import TokenFile


def top(
    app: AnyApplication,
    once: Annotated[
        bool, typer.Option("--once", help="Show it once; the default where stdout is no terminal.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for every status.")] = False,
    interval: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How often to look.")] = 1.0,
    url: Annotated[
        str | None, text_option("--url", "URL", "Ask the server there, such as http://127.0.0.1:7000.")
    ] = None,
    token_file: TokenFile = None,
    config: Config = None,
    config_file: ConfigFile = None,
    state_dir: StateDir = None,
) -> None:
    """Watch an application: its nodes, topics and stores, until q or Ctrl-C.

    Shows for each node how many records go in and out per second and in total, how many were late, dropped or
    failed; for each topic that is read where the application stands; and how large its state is. It reads
    what the application writes to its state directory, or asks a server.

    \b
    Examples:
      brookmere top word-count
      brookmere top word-count --once
      brookmere top word-count --json --url http://127.0.0.1:7000
    """
    # What reads the status takes a while to load, which the other commands need not wait for.
    from brookmere.cli.options.tokens import read_token
    from brookmere.cli.programs.applications import known_application
    from brookmere.cli.programs.load import is_program
    from brookmere.cli.query.remote import Remote
    from brookmere.cli.top.screen import show
    from brookmere.cli.top.status_feed import file_reader, server_reader

    if url is not None:
        read = server_reader(Remote(url, read_token(token_file)), None if is_program(app) else app)
    else:
        read = file_reader(known_application(app, config_file, chosen_settings(config, None, state_dir)))
    show(read, once=once, as_json=as_json, interval=interval, is_here=url is None)

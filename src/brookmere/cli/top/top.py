"""The `brookmere top` command."""

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
        bool, typer.Option("--once", help="Print once and exit (the default unless stdout is a terminal).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each status.")] = False,
    interval: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="The refresh interval.")] = 1.0,
    url: Annotated[
        str | None, text_option("--url", "URL", "Query this server, such as http://127.0.0.1:7000.")
    ] = None,
    token_file: TokenFile = None,
    config: Config = None,
    config_file: ConfigFile = None,
    state_dir: StateDir = None,
) -> None:
    """Watch the nodes, topics and stores of an application.

    Shows the records in and out of each node, per second and in total, and how many were late, dropped or
    failed; the position in each input topic; and the size of the state. The status comes from the state
    directory of the application, or with --url from a server. Press q or Ctrl-C to quit.

    \b
    Examples:
      brookmere top word-count
      brookmere top word-count --once
      brookmere top word-count --json --url http://127.0.0.1:7000
    """
    # These modules are slow to import, which other commands should not pay for.
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

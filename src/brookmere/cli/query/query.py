"""The `brookmere query` command."""

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
    text_option,
)
from brookmere.cli.options.tokens import TokenFile


def query(
    app: AnyApplication,
    store: Annotated[str, typer.Argument(metavar="STORE", help="The name of the store.", show_default=False)],
    key: Annotated[
        str | None,
        typer.Argument(
            metavar="KEY", help="The key, as text, number or JSON; all keys if omitted.", show_default=False
        ),
    ] = None,
    first: Annotated[
        str | None,
        text_option(
            "--from", "KEY|TIME", "The first key; in window and versioned stores, the earliest time."
        ),
    ] = None,
    last: Annotated[
        str | None,
        text_option("--to", "KEY|TIME", "The last key; in window and versioned stores, the latest time."),
    ] = None,
    as_of: Annotated[
        str | None, text_option("--as-of", "TIME", "The version that was valid at this time.")
    ] = None,
    prefix: Annotated[
        str | None,
        text_option(
            "--prefix", "TEXT", "Keys that start with this text, or with these bytes in hex after 0x."
        ),
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="Reverse the order.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", min=1, metavar="N", help="The maximum number of rows.", show_default=False
        ),
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Print only the number of rows.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print lines of JSON (the default unless stdout is a terminal).")
    ] = False,
    as_table: Annotated[
        bool, typer.Option("--table", help="Print a table (the default on a terminal).")
    ] = False,
    at_least: Annotated[
        str | None,
        text_option(
            "--at-least",
            "POSITION",
            'Wait for this position, such as {"clicks-counts-changelog": {"0": 17}}.',
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long to wait for the rows.")
    ] = 60.0,
    in_memory: Annotated[bool, typer.Option("--in-memory", help="Keep no files for later queries.")] = False,
    url: Annotated[
        str | None, text_option("--url", "URL", "Query this server, such as http://127.0.0.1:7000.")
    ] = None,
    token_file: TokenFile = None,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
) -> None:
    """Query a store of an application, whether it is running or not.

    The rows come from the changelog, which is read into files that make the next query fast, or with
    --url from a server. The exit code is 1 if the store does not have the key. Times are milliseconds since
    1970, or ISO times, in UTC unless they name a zone. `brookmere -v query` prints to stderr how fresh the
    rows are.

    \b
    Examples:
      brookmere query word-count counts brook
      brookmere query word-count counts --prefix br --limit 10
      brookmere query stock-stats per-minute ACME --from 2025-01-31T12:00:00Z
      brookmere query word-count counts --count --url http://127.0.0.1:7000
    """
    # Replicas are slow to import, which other commands should not pay for.
    from brookmere.cli.query.query_options import QueryOptions
    from brookmere.cli.query.results import Source, show_results

    options = QueryOptions(
        store=store, key=key, first=first, last=last, as_of=as_of, prefix=prefix, reverse=reverse,
        limit=limit, count=count, at_least=at_least, timeout=timeout,
    )  # fmt: skip
    chosen = chosen_settings(config, topics_dir, state_dir)
    source = Source(app, url, token_file, config_file, chosen, in_memory)
    show_results(source, options, as_json=as_json, as_table=as_table)

"""Turns a question that was typed into rows of a store."""

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
            metavar="KEY", help="The key, as text, number or JSON; all if left out.", show_default=False
        ),
    ] = None,
    first: Annotated[
        str | None, text_option("--from", "KEY|TIME", "From this key on; windows and versions: this time.")
    ] = None,
    last: Annotated[
        str | None, text_option("--to", "KEY|TIME", "Up to this key; windows and versions: this time.")
    ] = None,
    as_of: Annotated[
        str | None, text_option("--as-of", "TIME", "The version that was valid at a time.")
    ] = None,
    prefix: Annotated[
        str | None,
        text_option("--prefix", "TEXT", "Keys that begin so; in hex behind 0x if they are no text."),
    ] = None,
    reverse: Annotated[bool, typer.Option("--reverse", help="The other way round.")] = False,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many rows.", show_default=False),
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Only how many rows there are.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Lines of JSON; the default where stdout is no terminal.")
    ] = False,
    as_table: Annotated[bool, typer.Option("--table", help="A table; the default on a terminal.")] = False,
    at_least: Annotated[
        str | None,
        text_option(
            "--at-least", "POSITION", 'Wait for a position, such as {"clicks-counts-changelog": {"0": 17}}.'
        ),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long to wait until the rows are there.")
    ] = 60.0,
    in_memory: Annotated[
        bool, typer.Option("--in-memory", help="Keep no files for the next question.")
    ] = False,
    url: Annotated[
        str | None, text_option("--url", "URL", "Ask the server there, such as http://127.0.0.1:7000.")
    ] = None,
    token_file: TokenFile = None,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
) -> None:
    """Ask a store of an application, whether it runs or not.

    The answer comes from the changelog, which is read into files that make the next question quick, or with
    --url from a server. The exit code is 1 if there is nothing under the key. Times are milliseconds since
    1970, or ISO times, in UTC unless they name a zone. With `brookmere -v query` stderr tells how fresh the
    answer is.

    \b
    Examples:
      brookmere query word-count counts brook
      brookmere query word-count counts --prefix br --limit 10
      brookmere query stock-stats per-minute ACME --from 2025-01-31T12:00:00Z
      brookmere query word-count counts --count --url http://127.0.0.1:7000
    """
    # Replicas take a while to load, which the other commands need not wait for.
    from brookmere.cli.query.arguments import Question
    from brookmere.cli.query.results import Source, answer

    asked = Question(
        store=store, key=key, first=first, last=last, as_of=as_of, prefix=prefix, reverse=reverse,
        limit=limit, count=count, at_least=at_least, timeout=timeout,
    )  # fmt: skip
    chosen = chosen_settings(config, topics_dir, state_dir)
    source = Source(app, url, token_file, config_file, chosen, in_memory)
    answer(source, asked, as_json=as_json, as_table=as_table)

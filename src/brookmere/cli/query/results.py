"""Write the rows that a query returns to the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from brookmere.cli.options.tokens import read_token
from brookmere.cli.programs.applications import known_application
from brookmere.cli.programs.load import is_program
from brookmere.cli.query.local import Page, StoreReader, local_reader
from brookmere.cli.query.query_options import QueryOptions, check
from brookmere.cli.query.remote import Remote, RemoteReader
from brookmere.cli.query.rows import write_rows
from brookmere.cli.terminal import console
from brookmere.errors import CommandError

_NOT_THERE = 1
_PAGE_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows come from: a server, or the changelog of an application."""

    app: str
    url: str | None
    token_file: Path | None
    config_file: Path | None
    chosen: dict[str, str]
    in_memory: bool

    @contextmanager
    def reader(self, options: QueryOptions) -> Iterator[StoreReader]:
        """Yield a reader for the query."""
        if self.url is not None:
            application = None if is_program(self.app) else self.app
            remote = RemoteReader(Remote(self.url, read_token(self.token_file)), application, options.store)
            check(options, remote.kind)
            yield remote
        else:
            known = known_application(self.app, self.config_file, self.chosen)
            with local_reader(known, options, in_memory=self.in_memory) as found:
                yield found


def show_results(source: Source, options: QueryOptions, *, as_json: bool, as_table: bool) -> None:
    """Write the result to stdout, as a table or as lines of JSON.

    Raises:
        Exit: the store does not have the key.
    """
    if as_json and as_table:
        raise CommandError("--json and --table cannot be combined.\nGive only one of them.")
    with source.reader(options) as reader:
        _write(reader, options, as_table=as_table or (console.out.is_terminal and not as_json))


def _write(reader: StoreReader, options: QueryOptions, *, as_table: bool) -> None:
    if options.count:
        total, page = reader.count(options)
        console.write(str(total))
        _report_position(page)
        return
    has_rows = False
    shown: list[str] = []
    for page in _pages(reader, options):
        has_rows = has_rows or bool(page.rows)
        if as_table:
            # The column widths depend on all rows.
            shown += page.rows
        else:
            write_rows(reader.kind, page.rows, as_table=False)
    if shown:
        write_rows(reader.kind, shown, as_table=True)
    _report_position(page)
    if has_rows:
        return
    if options.key is not None:
        console.say(f"The store {options.store} does not have the key {options.key!r}.")
        raise typer.Exit(_NOT_THERE)
    console.say(f"The store {options.store} has no such rows.")


def _pages(reader: StoreReader, options: QueryOptions) -> Iterator[Page]:
    left, cursor = options.limit, None
    while True:
        page = reader.page(options, _PAGE_ROWS if left is None else min(left, _PAGE_ROWS), cursor)
        yield page
        left = None if left is None else left - len(page.rows)
        cursor = page.cursor
        if cursor is None or left == 0:
            return


def _report_position(page: Page) -> None:
    if page.position:
        lag = "" if page.lag is None else f" · lag {page.lag:,}"
        console.detail(f"position {page.position.to_json()}{lag}")

"""Turns a question and where to ask it into rows on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from brookmere.cli.options.tokens import read_token
from brookmere.cli.programs.applications import known_application
from brookmere.cli.programs.load import is_program
from brookmere.cli.query.arguments import Question, check
from brookmere.cli.query.pages import Asker, Page, local_asker
from brookmere.cli.query.remote import Remote, RemoteAsker
from brookmere.cli.query.rows import write_rows
from brookmere.cli.terminal import console
from brookmere.errors import CommandError

_NOT_THERE = 1
_PAGE_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Source:
    """Where to ask: a server, or the changelog of an application."""

    app: str
    url: str | None
    token_file: Path | None
    config_file: Path | None
    chosen: dict[str, str]
    in_memory: bool

    @contextmanager
    def asker(self, asked: Question) -> Iterator[Asker]:
        """Give what answers the question."""
        if self.url is not None:
            application = None if is_program(self.app) else self.app
            remote = RemoteAsker(Remote(self.url, read_token(self.token_file)), application, asked.store)
            check(asked, remote.kind)
            yield remote
        else:
            known = known_application(self.app, self.config_file, self.chosen)
            with local_asker(known, asked, in_memory=self.in_memory) as found:
                yield found


def answer(source: Source, asked: Question, *, as_json: bool, as_table: bool) -> None:
    """Write the answer on stdout, as a table for people unless JSON is wanted.

    Raises:
        Exit: there is nothing under the key.
    """
    if as_json and as_table:
        raise CommandError("--json and --table do not go together.\nGive one of them.")
    with source.asker(asked) as asker:
        _write(asker, asked, as_table=as_table or (console.out.is_terminal and not as_json))


def _write(asker: Asker, asked: Question, *, as_table: bool) -> None:
    if asked.count:
        total, page = asker.count(asked)
        console.write(str(total))
        _tell(page)
        return
    has_rows = False
    shown: list[str] = []
    for page in _pages(asker, asked):
        has_rows = has_rows or bool(page.rows)
        if as_table:
            # The widths of its columns depend on all rows.
            shown += page.rows
        else:
            write_rows(asker.kind, page.rows, as_table=False)
    if shown:
        write_rows(asker.kind, shown, as_table=True)
    _tell(page)
    if has_rows:
        return
    if asked.key is not None:
        console.say(f"There is nothing under the key {asked.key!r} in {asked.store}.")
        raise typer.Exit(_NOT_THERE)
    console.say(f"There are no such rows in {asked.store}.")


def _pages(asker: Asker, asked: Question) -> Iterator[Page]:
    left, cursor = asked.limit, None
    while True:
        page = asker.page(asked, _PAGE_ROWS if left is None else min(left, _PAGE_ROWS), cursor)
        yield page
        left = None if left is None else left - len(page.rows)
        cursor = page.cursor
        if cursor is None or left == 0:
            return


def _tell(page: Page) -> None:
    if page.position:
        lag = "" if page.lag is None else f" · lag {page.lag:,}"
        console.detail(f"position {page.position.to_json()}{lag}")

"""Turns questions into requests to a server of Brookmere's, and its answers into rows or an error."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

from brookmere.cli.options.tokens import TOKEN_VARIABLE
from brookmere.cli.query.arguments import Question, parameters_of
from brookmere.cli.query.pages import Page
from brookmere.cli.query.rows import read_number
from brookmere.errors import CommandError, StoreError, StoreNotReadyError
from brookmere.serde.json.any_json import json_of
from brookmere.state import Position, StoreKind
from brookmere.state.replica.replica import unknown_store

_POSITION = "Brookmere-Position"
_WAIT_SECONDS = 70.0
_PAUSE_SECONDS = 0.2
_MOST_ROWS = 1000


class Remote:
    """A server that answers for an application."""

    def __init__(self, url: str, token: str | None = None) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise CommandError(f"{url!r} is not the address of a server.\nWrite it as http://127.0.0.1:7000.")
        self.url = url.rstrip("/")
        self._token = token

    def get(
        self,
        path: str,
        parameters: dict[str, str] | None = None,
        *,
        parse_float: Callable[[str], Any] = float,
    ) -> tuple[Any, Position]:
        """Return the JSON of an answer, and the position that it is valid for.

        Raises:
            CommandError: there is no such server.
            StoreError: the server refuses, and says why.
        """
        url = f"{self.url}{path}" + (f"?{urlencode(parameters)}" if parameters else "")
        headers = {"Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            with urlopen(Request(url, headers=headers), timeout=_WAIT_SECONDS) as answer:
                position = Position.from_json(answer.headers.get(_POSITION) or "{}")
                return json.load(answer, parse_float=parse_float), position
        except HTTPError as error:
            with error:
                raise _refusal(self.url, error) from error
        except (URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise CommandError(
                f"There is no answer from {self.url}: {reason}.\n"
                "Look whether `brookmere run ... --serve` or `brookmere serve` runs there."
            ) from error


class NotThere(StoreError):  # noqa: N818 - an answer, not a failure
    """The server does not have what was asked for, and does not need to: a key, or a status."""


class RemoteAsker:
    """Asks a server."""

    def __init__(self, remote: Remote, application: str | None, store: str) -> None:
        self._remote = remote
        self._path = f"/stores/{quote(store, safe='')}"
        own = remote.get("/metadata")[0]["application"]
        if application is not None and own != application:
            raise CommandError(
                f"{remote.url} serves the application {own}, not {application}.\nName the one that is meant."
            )
        found = {each["name"]: each for each in remote.get("/stores")[0]["stores"]}
        if store not in found:
            raise unknown_store(own, store, found)
        self.kind: StoreKind = found[store]["kind"]
        self._lag: int = found[store]["lag"]

    def page(self, asked: Question, limit: int, cursor: str | None) -> Page:
        path = self._path if asked.key is None else f"{self._path}/{quote(asked.key, safe='')}"
        parameters = parameters_of(asked, self.kind, min(limit, _MOST_ROWS), cursor)
        try:
            answer, position = self._answer(path, parameters, asked.timeout)
        except NotThere:
            return Page([], Position(), None)
        rows = answer.get("rows", [answer])
        texts = [json_of(row).decode() for row in rows]
        return Page(texts, position, answer.get("lag", self._lag), answer.get("cursor"))

    def _answer(self, path: str, parameters: dict[str, str], timeout: float) -> tuple[Any, Position]:
        """Ask again while the replica of the server has not caught up."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                return self._remote.get(path, parameters, parse_float=read_number)
            except StoreNotReadyError as error:
                if time.monotonic() >= deadline:
                    raise CommandError(
                        f"The replica at {self._remote.url} has not caught up after {timeout:g} s.\n"
                        f"Wait longer with --timeout, and look at {self._remote.url}/health."
                    ) from error
            time.sleep(_PAUSE_SECONDS)

    def count(self, asked: Question) -> tuple[int, Page]:
        page = self.page(asked, _MOST_ROWS, None)
        total = len(page.rows)
        while page.cursor is not None:
            page = self.page(asked, _MOST_ROWS, page.cursor)
            total += len(page.rows)
        return total, page


def _refusal(url: str, error: HTTPError) -> StoreError | CommandError:
    try:
        problem = json.loads(error.read())
        kind, detail = problem["type"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        return CommandError(
            f"{url} answers {error.code} {error.reason}, which is no answer of Brookmere's.\n"
            "Look whether it is the address of `brookmere serve` or `brookmere run ... --serve`."
        )
    if kind in ("no-such-key", "no-status"):
        return NotThere(detail)
    if error.code == 401:
        return CommandError(
            f"{url} wants a token, and the right one was not given.\n"
            f"Give it with --token-file, or in the variable {TOKEN_VARIABLE}."
        )
    return StoreNotReadyError(detail) if kind == "not-ready" else StoreError(detail)

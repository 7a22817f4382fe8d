"""Read rows from a Brookmere server over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

from brookmere.cli.options.tokens import TOKEN_VARIABLE
from brookmere.cli.query.local import Page
from brookmere.cli.query.query_options import QueryOptions, parameters_of
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
    """A server of an application's stores."""

    def __init__(self, url: str, token: str | None = None) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise CommandError(f"{url!r} is not the URL of a server.\nWrite it as http://127.0.0.1:7000.")
        self.url = url.rstrip("/")
        self._token = token

    def get(
        self,
        path: str,
        parameters: dict[str, str] | None = None,
        *,
        parse_float: Callable[[str], Any] = float,
    ) -> tuple[Any, Position]:
        """Return the JSON of a response, and the position that it is valid for.

        Raises:
            CommandError: the server does not respond.
            StoreError: the server refuses the request, with the reason.
        """
        url = f"{self.url}{path}" + (f"?{urlencode(parameters)}" if parameters else "")
        headers = {"Accept": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            with urlopen(Request(url, headers=headers), timeout=_WAIT_SECONDS) as response:
                position = Position.from_json(response.headers.get(_POSITION) or "{}")
                return json.load(response, parse_float=parse_float), position
        except HTTPError as error:
            with error:
                raise _refusal(self.url, error) from error
        except (URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise CommandError(
                f"There is no response from {self.url}: {reason}.\n"
                "Check that `brookmere run ... --serve` or `brookmere serve` is running there."
            ) from error


class NotThere(StoreError):  # noqa: N818 - a result, not a failure
    """The server does not have the requested key or status, which is not an error."""


class RemoteReader:
    """Reads from a server."""

    def __init__(self, remote: Remote, application: str | None, store: str) -> None:
        self._remote = remote
        self._path = f"/stores/{quote(store, safe='')}"
        own = remote.get("/metadata")[0]["application"]
        if application is not None and own != application:
            raise CommandError(
                f"{remote.url} serves the application {own}, not {application}.\n"
                "Name that application, or use another --url."
            )
        found = {each["name"]: each for each in remote.get("/stores")[0]["stores"]}
        if store not in found:
            raise unknown_store(own, store, found)
        self.kind: StoreKind = found[store]["kind"]
        self._lag: int = found[store]["lag"]

    def page(self, options: QueryOptions, limit: int, cursor: str | None) -> Page:
        path = self._path if options.key is None else f"{self._path}/{quote(options.key, safe='')}"
        parameters = parameters_of(options, self.kind, min(limit, _MOST_ROWS), cursor)
        try:
            response, position = self._response(path, parameters, options.timeout)
        except NotThere:
            return Page([], Position(), None)
        rows = response.get("rows", [response])
        texts = [json_of(row).decode() for row in rows]
        return Page(texts, position, response.get("lag", self._lag), response.get("cursor"))

    def _response(self, path: str, parameters: dict[str, str], timeout: float) -> tuple[Any, Position]:
        """Retry until the replica of the server has caught up."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                return self._remote.get(path, parameters, parse_float=read_number)
            except StoreNotReadyError as error:
                if time.monotonic() >= deadline:
                    raise CommandError(
                        f"The replica at {self._remote.url} did not catch up within {timeout:g} s.\n"
                        f"Wait longer with --timeout, and check {self._remote.url}/health."
                    ) from error
            time.sleep(_PAUSE_SECONDS)

    def count(self, options: QueryOptions) -> tuple[int, Page]:
        page = self.page(options, _MOST_ROWS, None)
        total = len(page.rows)
        while page.cursor is not None:
            page = self.page(options, _MOST_ROWS, page.cursor)
            total += len(page.rows)
        return total, page


def _refusal(url: str, error: HTTPError) -> StoreError | CommandError:
    try:
        problem = json.loads(error.read())
        kind, detail = problem["type"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        return CommandError(
            f"{url} responds with {error.code} {error.reason}, which is not a response of Brookmere's.\n"
            "Check that it is the URL of `brookmere serve` or `brookmere run ... --serve`."
        )
    if kind in ("no-such-key", "no-status"):
        return NotThere(detail)
    if error.code == 401:
        return CommandError(
            f"{url} requires a token, and none or a wrong one was given.\n"
            f"Give it with --token-file, or in the variable {TOKEN_VARIABLE}."
        )
    return StoreNotReadyError(detail) if kind == "not-ready" else StoreError(detail)

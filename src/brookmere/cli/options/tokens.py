"""Turns a file, or a variable of the environment, into the bearer token of a server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from brookmere.errors import CommandError

TOKEN_VARIABLE = "BROOKMERE_TOKEN"
TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=f"The bearer token of the server; by default the variable {TOKEN_VARIABLE}, else none.",
        show_default=False,
    ),
]
ServeAddress = Annotated[
    str | None,
    typer.Option(
        "--serve",
        metavar="HOST:PORT",
        help="Answer questions about the stores over HTTP there, as 127.0.0.1:7000.",
        show_default=False,
    ),
]


def read_token(file: Path | None) -> str | None:
    """Return the token of a file, else that of the environment; None where there is none.

    Raises:
        CommandError: the file cannot be read, or there is no token in it or in the variable.
    """
    if file is None:
        given = os.environ.get(TOKEN_VARIABLE)
        return _checked(given, f"the variable {TOKEN_VARIABLE}") if given else None
    try:
        given = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        words = error.strerror if isinstance(error, OSError) else "it is no text"
        raise CommandError(f"The token in {file} cannot be read: {words}.\nName a readable file.") from error
    return _checked(given, str(file))


def _checked(given: str, place: str) -> str:
    token = given.strip()
    if not token or not token.isascii() or not token.isprintable():
        raise CommandError(f"There is no token in {place}.\nPut one line of plain characters there.")
    return token

"""The bearer token of a server, from a file or an environment variable."""

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
        help=f"A file with the bearer token; by default the variable {TOKEN_VARIABLE} is used, if set.",
        show_default=False,
    ),
]
ServeAddress = Annotated[
    str | None,
    typer.Option(
        "--serve",
        metavar="HOST:PORT",
        help="Serve queries of the stores over HTTP at this address, such as 127.0.0.1:7000.",
        show_default=False,
    ),
]


def read_token(file: Path | None) -> str | None:
    """Return the token from the file, else from the environment; None if neither is given.

    Raises:
        CommandError: the file cannot be read, or it or the variable contains no token.
    """
    if file is None:
        given = os.environ.get(TOKEN_VARIABLE)
        return _checked(given, f"the variable {TOKEN_VARIABLE}") if given else None
    try:
        given = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        words = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise CommandError(
            f"The token file {file} cannot be read: {words}.\nName a readable file."
        ) from error
    return _checked(given, str(file))


def _checked(given: str, place: str) -> str:
    token = given.strip()
    if not token or not token.isascii() or not token.isprintable():
        raise CommandError(
            f"There is no token in {place}.\nA token is one line of printable ASCII characters."
        )
    return token

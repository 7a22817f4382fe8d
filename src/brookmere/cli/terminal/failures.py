"""Turns an exception into one paragraph on stderr."""

from __future__ import annotations

import traceback

from rich.text import Text

from brookmere.cli.terminal import console
from brookmere.errors import BrookmereError


def tell(failure: BaseException, *, trace: bool = False) -> None:
    """Write on stderr what failed, and the stack trace if asked for."""
    if trace:
        console.err.file.write("".join(traceback.format_exception(failure)))
    console.err.print(Text.assemble(("Error: ", "bold red"), paragraph(failure)), soft_wrap=True)


def paragraph(failure: BaseException) -> str:
    """Return what is wrong, what was found and what to do."""
    if isinstance(failure, BrookmereError):
        return str(failure)
    if isinstance(failure, PermissionError):
        return (
            f"{failure.filename}: there is no permission to use it ({failure.strerror}).\n"
            "Mend its permissions, or name another directory: --topics-dir, --state-dir or BROOKMERE_HOME."
        )
    if isinstance(failure, OSError) and failure.filename is not None:
        return f"{failure.filename}: {failure.strerror}."
    words = traceback.format_exception_only(failure)[-1].strip()
    return (
        f"Something unexpected happened: {words}\n"
        "`brookmere --traceback ...` with the same command shows where; please report it."
    )

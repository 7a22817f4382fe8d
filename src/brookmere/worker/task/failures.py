"""Describes exceptions of user code: class, message and traceback."""

from __future__ import annotations

import os
import traceback
from itertools import dropwhile
from pathlib import Path

FAILURES = (Exception, SystemExit)
"""Exceptions that fail a record. sys.exit() in user code must not end the process of all tasks."""

_PACKAGE = str(Path(__file__).resolve().parents[2]) + os.sep


def described(error: BaseException, where: str = "") -> tuple[str, str, str]:
    """Return class name, message and traceback; the traceback starts in user code.

    `where` names the function that has returned what cannot be taken: no line of it is in the traceback then.
    """
    found = traceback.TracebackException(type(error), error, error.__traceback__)
    _cut(found)
    kind, text = class_name(error), message(error)
    if found.stack or not where or where in text:
        return kind, text, "".join(found.format())
    text = f"{text}; it was returned by the {where}"
    return kind, text, f"{kind}: {text}\n"


def message(error: BaseException) -> str:
    """Return what an exception says, also if its own code fails to."""
    try:
        return str.__str__(str(error))
    except Exception as other:  # noqa: BLE001 - the exception is user code, too
        return f"its message cannot be made: {class_name(other)}"


def class_name(error: BaseException) -> str:
    """Return the name of an exception's class, with its module unless it is a built-in."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _cut(found: traceback.TracebackException) -> None:
    """Take the frames of this package off the front, also of the exceptions that came before."""
    # No recursion: code that fails deep down may have wrapped its exception at every step of the way up.
    waiting = [found]
    while waiting:
        cut = waiting.pop()
        frames = [*dropwhile(lambda frame: frame.filename.startswith(_PACKAGE), cut.stack)]
        cut.stack = traceback.StackSummary.from_list(frames)
        waiting += [before for before in (cut.__cause__, cut.__context__) if before is not None]

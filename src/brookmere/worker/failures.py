"""Turns an exception of user code into its class, message and traceback as text."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from types import TracebackType

_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep


def described(error: BaseException) -> tuple[str, str, str]:
    """Return class name, message and traceback; the traceback begins where user code does."""
    text = "".join(traceback.format_exception(type(error), error, users_part(error.__traceback__)))
    return class_name(error), message(error), text


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


def users_part(found: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package in front."""
    while found is not None and _is_ours(found.tb_frame.f_code.co_filename):
        found = found.tb_next
    return found


def _is_ours(file: str) -> bool:
    return file.startswith(_PACKAGE)

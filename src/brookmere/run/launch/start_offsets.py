"""Keeps where an application begins to read at its next start, when it was told to by a reset."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from brookmere.errors import StateError
from brookmere.run.evolution.identity import has_positions

BEGIN = "begin.json"


def write_begin(directory: Path, ids: Mapping[str, str], offsets: Mapping[str, Sequence[int]]) -> None:
    """Put down where to begin in each topic; at once, or not at all."""
    file = directory / BEGIN
    unfinished = file.with_suffix(".tmp")
    with unfinished.open("w", encoding="utf-8") as out:
        content = {topic: {"id": ids[topic], "offsets": list(offsets[topic])} for topic in offsets}
        json.dump(content, out)
        out.flush()
        os.fsync(out.fileno())
    unfinished.replace(file)


def has_begin(directory: Path) -> bool:
    """Tell whether it is said where to begin."""
    return (directory / BEGIN).is_file()


def begin_of(directory: Path, checkpoint: Path) -> str:
    """Return where to begin, in the words of the source; nothing where an application goes on or is free.

    Raises:
        StateError: the file that tells it cannot be read.
    """
    file = directory / BEGIN
    if has_positions(checkpoint):
        # It has begun there, and must not do so again.
        file.unlink(missing_ok=True)
        return ""
    try:
        text = file.read_text(encoding="utf-8")
        json.loads(text)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise StateError(
            f"{file} tells where to begin, and cannot be read. Found: {error}. "
            "Reset the application again, or delete the file to begin as auto.offset.reset says."
        ) from error
    return text

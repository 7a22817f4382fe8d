"""The offsets from which the next start reads, if a reset has set them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from brookmere.errors import StateError
from brookmere.run.evolution.identity import has_positions

START_OFFSETS = "begin.json"


def write_start_offsets(
    directory: Path, ids: Mapping[str, str], offsets: Mapping[str, Sequence[int]]
) -> None:
    """Write from where to read each topic; atomically."""
    file = directory / START_OFFSETS
    unfinished = file.with_suffix(".tmp")
    with unfinished.open("w", encoding="utf-8") as out:
        content = {topic: {"id": ids[topic], "offsets": list(offsets[topic])} for topic in offsets}
        json.dump(content, out)
        out.flush()
        os.fsync(out.fileno())
    unfinished.replace(file)


def has_start_offsets(directory: Path) -> bool:
    """Whether a reset has set the offsets of the next start."""
    return (directory / START_OFFSETS).is_file()


def read_start_offsets(directory: Path, checkpoint: Path) -> str:
    """Return from where to read, as the source writes it; empty if the checkpoint or the settings decide.

    Raises:
        StateError: the file cannot be read.
    """
    file = directory / START_OFFSETS
    if has_positions(checkpoint):
        # They have served their purpose.
        file.unlink(missing_ok=True)
        return ""
    try:
        text = file.read_text(encoding="utf-8")
        json.loads(text)
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise StateError(
            f"{file}, which holds the offsets to start from, cannot be read. Found: {error}. "
            "Reset the application again, or delete the file to start as auto.offset.reset says."
        ) from error
    return text

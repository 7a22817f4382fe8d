"""Turns a checkpoint that was moved or copied into one that Spark can use where it lies now."""

from __future__ import annotations

import json
import re
from pathlib import Path

from brookmere.kernel.cache import write_atomically

# Spark puts down where the schemas of its stores lie with the whole path.
_PLACE = re.compile(r'file:[^"]*(?=/state/\d+/_stateSchema/)')


def relocate(checkpoint: Path) -> None:
    """Let Spark's files name the place where they are; doing so again changes nothing."""
    here = json.dumps(f"file:{checkpoint.resolve()}", ensure_ascii=False)[1:-1]
    for file in checkpoint.glob("state/*/_metadata/*/*"):
        if not file.name.isdigit():
            continue
        text = file.read_text(encoding="utf-8")
        moved = _PLACE.sub(lambda _: here, text)
        if moved != text:
            write_atomically(file, moved.encode())

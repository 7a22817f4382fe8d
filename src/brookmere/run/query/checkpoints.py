"""Reads the files of a Spark checkpoint: which batches were started and finished, and their offsets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from brookmere.errors import StateError


@dataclass(frozen=True, slots=True)
class Begun:
    """The progress of the query of a checkpoint."""

    query: str | None
    """Its id, or None if it is unknown."""
    batch: int
    """The last batch that was started, or -1."""
    finished: int
    """The last batch that was finished, or -1."""
    since_ms: int
    """When the last batch was started, in milliseconds since 1970."""

    @property
    def is_unfinished(self) -> bool:
        """Whether a batch was started and not finished."""
        return self.batch > self.finished


def begun(checkpoint: Path) -> Begun:
    """Return the progress of the query of a checkpoint."""
    batch = _last(checkpoint / "offsets")
    since = 0 if batch < 0 else (checkpoint / "offsets" / str(batch)).stat().st_mtime_ns // 1_000_000
    return Begun(_query(checkpoint), batch, _last(checkpoint / "commits"), since)


def checkpointed_partitions(checkpoint: str | Path) -> int | None:
    """Return the number of Spark partitions of a checkpoint, which cannot change; None if it is new."""
    offsets = Path(str(checkpoint).removeprefix("file:")) / "offsets"
    batch = _last(offsets)
    if batch < 0:
        return None
    try:
        settings = json.loads((offsets / str(batch)).read_text().splitlines()[1])["conf"]
        return int(settings["spark.sql.shuffle.partitions"])
    except (IndexError, KeyError, ValueError) as error:
        raise StateError(
            f"The checkpoint in {checkpoint} cannot be read. Found: {offsets / str(batch)} is not an entry "
            "of its log. Restore the directory from a copy, or delete it to start from scratch."
        ) from error


def committed_positions(checkpoint: Path) -> dict[str, list[int]]:
    """Return, by topic and partition, the offsets after the last finished batch."""
    try:
        lines = (checkpoint / "offsets" / str(_last(checkpoint / "commits"))).read_text(encoding="utf-8")
        content = json.loads(lines.splitlines()[2])
        return {topic: list(found["offsets"]) for topic, found in content.items() if "offsets" in found}
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        # It never finished a batch, or its files are damaged.
        return {}


def _query(checkpoint: Path) -> str | None:
    try:
        return str(json.loads((checkpoint / "metadata").read_text(encoding="utf-8"))["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _last(log: Path) -> int:
    names = [path.name for path in log.iterdir()] if log.is_dir() else []
    return max((int(name) for name in names if name.isdigit()), default=-1)

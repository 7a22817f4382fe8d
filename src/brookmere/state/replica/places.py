"""Says where the replicas of an application keep their files."""

from __future__ import annotations

from pathlib import Path

REPLICAS = "replicas"
"""The folder of a state directory with the files of replicas, one folder each."""
LOCAL = "local"
"""The name of the replica in the application's process."""


def replica_directory(state: Path, name: str) -> Path:
    """Return where a replica of an application keeps its files, unless it is told otherwise."""
    return state / REPLICAS / name

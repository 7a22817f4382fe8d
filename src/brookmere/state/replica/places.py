"""Where the replicas of an application store their files."""

from __future__ import annotations

from pathlib import Path

REPLICAS = "replicas"
"""The folder in a state directory that holds one folder per replica."""
LOCAL = "local"
"""The name of the replica in the application's process."""


def replica_directory(state: Path, name: str) -> Path:
    """Return the default directory of a replica."""
    return state / REPLICAS / name

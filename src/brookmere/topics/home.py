"""The default directory of embedded topics, inside the home of topics and state."""

from __future__ import annotations

from pathlib import Path

from brookmere.config import home

__all__ = ["default_topics_directory", "home"]


def default_topics_directory() -> Path:
    """Return the directory of the topics inside the home."""
    return home() / "topics"

"""Turns the home of topics and state into the directory of the topics, when nobody names one."""

from __future__ import annotations

from pathlib import Path

from brookmere.config import home

__all__ = ["default_topics_directory", "home"]


def default_topics_directory() -> Path:
    """Return the directory of the topics, in the home."""
    return home() / "topics"

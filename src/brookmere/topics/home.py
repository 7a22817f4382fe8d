"""Turns the environment into the directory where topics and state lie when nobody names one."""

from __future__ import annotations

import os
from pathlib import Path

HOME_VARIABLE = "BROOKMERE_HOME"


def home() -> Path:
    """Return $BROOKMERE_HOME, or `.brookmere` in the working directory."""
    named = os.environ.get(HOME_VARIABLE)
    # An absolute path keeps its meaning when the program changes its working directory later.
    return Path(named or ".brookmere").absolute()


def default_topics_directory() -> Path:
    """Return the directory of the topics, in the home."""
    return home() / "topics"

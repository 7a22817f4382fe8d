"""Puts this process, and all that it starts, on two cores."""

from __future__ import annotations

import os

_CORES = 2


def share_cores() -> None:
    """Put everything, broker and contestants, on the same two cores, also where there are more."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])

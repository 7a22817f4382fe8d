"""Pins this process, and everything it starts, to two cores."""

from __future__ import annotations

import os

_CORES = 2


def share_cores() -> None:
    """Pin everything, broker and contestants, to the same two cores, even if there are more."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])

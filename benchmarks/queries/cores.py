"""Separate cores for the two sides of a measurement."""

from __future__ import annotations

import os


def take(side: int) -> None:
    """Pin this process to one core; sides 0 and 1 have different ones if there are two."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[side % len(cores)]})

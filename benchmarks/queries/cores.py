"""Turns the cores of the machine into two sides that do not take each other's time."""

from __future__ import annotations

import os


def take(side: int) -> None:
    """Put this process on one core; sides 0 and 1 have different ones where there are two."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[side % len(cores)]})

"""The records that the programs read, always the same ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

import brookmere as bm

_WORDS = (
    "brook",
    "mere",
    "stream",
    "table",
    "window",
    "join",
    "task",
    "grace",
    "x",
    "offset",
    "topic",
    "late",
)


def sentences() -> Iterator[bm.Record]:
    """Return records without end, a millisecond apart."""
    dice = random.Random(7)
    time = 1
    while True:
        yield bm.Record(f"k{dice.randrange(50)}".encode(), " ".join(dice.choices(_WORDS, k=4)).encode(), time)
        time += 1

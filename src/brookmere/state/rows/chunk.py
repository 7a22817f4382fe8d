"""Holds records of one partition of a changelog, as columns of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """Records that follow each other in a partition."""

    partition: int
    offsets: Sequence[int]
    timestamps: Sequence[int]
    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    end: int
    """The offset behind them; after compaction or transactions there may be a gap."""

    def __len__(self) -> int:
        return len(self.offsets)

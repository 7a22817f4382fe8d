"""Where the time of a record comes from, and what is done about one that cannot be a time."""

from __future__ import annotations

from enum import Enum
from typing import Literal

OnInvalidTimestamp = Literal["fail", "skip", "partition-time"]


class RecordClock(Enum):
    """A clock that gives a record its time without a look at its value."""

    RECORD = "record_time"
    WALL = "wall_clock"

    def __repr__(self) -> str:
        return f"brookmere.{self.value}"


record_time = RecordClock.RECORD
"""The time that the record carries: its producer's, or of the topic if it has log-append time."""

wall_clock = RecordClock.WALL
"""The time at which the record is processed. A batch that is done again has the time it had at first."""

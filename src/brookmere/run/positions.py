"""Turns the progress of an application into what its stores know of the topics that it reads."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from brookmere.errors import BrookmereError
from brookmere.state import Position
from brookmere.state.position import Offsets
from brookmere.topics import AnyTopics

_MOST_MARKS = 256


@dataclass(frozen=True, slots=True)
class _Mark:
    """Everything that was read up to `read` is in the changelog up to `ends`."""

    read: Position
    ends: Offsets


class ReadPositions:
    """Tells how far the topics are processed, and which part of that stands in a changelog.

    Who asks about a changelog makes that its end is looked at, at most once per batch.
    """

    def __init__(self, names: Collection[str], topics: AnyTopics, before: Position) -> None:
        self._names = names
        self._topics = topics
        self._read = before
        self._marks: dict[str, list[_Mark]] = {}
        self._marked: dict[str, Position] = {}
        """By changelog, what was read when its end was last looked at."""
        self._marking = threading.Lock()
        self._changed = threading.Condition()
        self._has_ended = False

    def topics(self) -> Collection[str]:
        """Return the names of the topics that are read."""
        return self._names

    def processed(self, read: Position) -> None:
        """Put down that a batch is done, and everything up to `read` with it."""
        with self._changed:
            if not self._read.covers(read):
                self._read = self._read.merged(read)
            self._changed.notify_all()

    def end(self) -> None:
        """Let nobody wait any longer: no batch will follow."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def wait(self, wanted: Mapping[str, Offsets], deadline: float) -> bool:
        """Wait until all records up to there are processed; False if they are not by `time.monotonic()`."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._read.covers(wanted) or self._has_ended, max(0.0, deadline - time.monotonic())
            )
            return self._read.covers(wanted)

    def covered(self, changelog: str, positions: Offsets) -> Position:
        """Return what was read of the topics up to these positions in a changelog, as far as it is known."""
        # While somebody else looks, less is known for a moment: nobody waits for it.
        if self._marked.get(changelog) is not self._read and self._marking.acquire(blocking=False):
            try:
                self._mark(changelog)
            finally:
                self._marking.release()
        with self._changed:
            for mark in reversed(self._marks.get(changelog, ())):
                if all(positions.get(partition, 0) >= end for partition, end in mark.ends.items()):
                    return mark.read
        return Position()

    def _mark(self, changelog: str) -> None:
        read = self._read
        try:
            # Looked at behind the batch: what the batch wrote is in front of it.
            ends = dict(enumerate(self._topics[changelog].end_offsets()))
        except BrookmereError:
            # Then less is known, and the next question tries again.
            return
        with self._changed:
            self._marked[changelog] = read
            marks = self._marks.setdefault(changelog, [])
            if marks and marks[-1].ends == ends:
                marks.pop()
            marks.append(_Mark(read, ends))
            if len(marks) > _MOST_MARKS:
                # Half of the older ones are enough: between them one knows a little less.
                marks[: _MOST_MARKS // 2] = marks[1 : _MOST_MARKS // 2 : 2]

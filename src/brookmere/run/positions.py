"""How far an application has processed its topics, and which part of that its changelogs already hold."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from brookmere.errors import BrookmereError
from brookmere.state import Position
from brookmere.state.position import Offsets
from brookmere.topics import AnyTopics

_MAX_MARKS = 256


@dataclass(frozen=True, slots=True)
class _Mark:
    """Everything read up to `read` is in the changelog up to `ends`."""

    read: Position
    ends: Offsets


class ReadPositions:
    """Knows how far the topics are processed, and which part of that is in a changelog.

    A question about a changelog looks up the end of that changelog, at most once per batch.
    """

    def __init__(self, names: Collection[str], topics: AnyTopics, before: Position) -> None:
        self._names = names
        self._topics = topics
        self._read = before
        self._marks: dict[str, list[_Mark]] = {}
        self._marked: dict[str, Position] = {}
        """By changelog, what was read when its end was last looked up."""
        self._marking = threading.Lock()
        self._changed = threading.Condition()
        self._has_ended = False

    def topics(self) -> Collection[str]:
        """Return the names of the topics that are read."""
        return self._names

    def processed(self, read: Position) -> None:
        """Note that a batch is finished, and everything up to `read` is processed."""
        with self._changed:
            if not self._read.covers(read):
                self._read = self._read.merged(read)
            self._changed.notify_all()

    def end(self) -> None:
        """Release everyone who waits: there will be no further batch."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def wait(self, wanted: Mapping[str, Offsets], deadline: float) -> bool:
        """Wait until all records up to `wanted` are processed; False if they are not by `deadline`."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._read.covers(wanted) or self._has_ended, max(0.0, deadline - time.monotonic())
            )
            return self._read.covers(wanted)

    def covered(self, changelog: str, positions: Offsets) -> Position:
        """Return what was read of the topics up to these positions in a changelog, as far as is known."""
        # While another thread looks it up, less is known for a moment; do not wait for that.
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
            # Looked up after the batch, so everything the batch wrote is before it.
            ends = dict(enumerate(self._topics[changelog].end_offsets()))
        except BrookmereError:
            # The next question tries again.
            return
        with self._changed:
            self._marked[changelog] = read
            marks = self._marks.setdefault(changelog, [])
            if marks and marks[-1].ends == ends:
                marks.pop()
            marks.append(_Mark(read, ends))
            if len(marks) > _MAX_MARKS:
                # Every second of the older ones is precise enough.
                marks[: _MAX_MARKS // 2] = marks[1 : _MAX_MARKS // 2 : 2]

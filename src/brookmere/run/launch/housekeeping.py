"""Maintains the topics of a running application in the background: merging, retention and compaction."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

from brookmere.errors import BrookmereError
from brookmere.topics import Topics

logger = logging.getLogger(__name__)

# Every batch adds a segment to each partition it writes to, and only this thread merges them.
_WRITTEN_SECONDS = 2.0
# The writers of input topics merge their segments, but leave retention to others.
_ROUNDS_PER_READ = 30


class Housekeeping:
    """A thread that maintains topics until it is stopped."""

    def __init__(self, topics: Topics, *, written: Iterable[str], read: Iterable[str]) -> None:
        self._topics = topics
        self._written = set(written)
        self._read = set(read) - self._written
        self._end = threading.Event()
        self._logged: set[str] = set()
        self._thread = threading.Thread(target=self._run, name="brookmere-housekeeping", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """End the thread after its current topic."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        rounds = 0
        while not self._end.wait(_WRITTEN_SECONDS):
            rounds += 1
            self._maintain(self._written | (self._read if rounds % _ROUNDS_PER_READ == 0 else set()))

    def _maintain(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            if self._end.is_set():
                return
            try:
                if name in self._topics:
                    self._topics[name].maintain()
            except (BrookmereError, OSError) as error:
                # If it affects the application, the application reports it.
                if name not in self._logged:
                    logger.warning("the topic %s cannot be maintained: %s", name, error)
                    self._logged.add(name)

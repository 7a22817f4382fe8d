"""Keeps the topics of a running application short: merging, retention and compaction in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable

from brookmere.errors import BrookmereError
from brookmere.topics import Topics

logger = logging.getLogger(__name__)

# Every batch adds a segment to each partition it writes to, and nobody else merges them.
_WRITTEN_SECONDS = 2.0
# Topics that are read have writers of their own; what they leave to others is retention.
_ROUNDS_PER_READ = 30


class Housekeeping:
    """A thread that maintains topics until it is told to end."""

    def __init__(self, topics: Topics, *, written: Iterable[str], read: Iterable[str]) -> None:
        self._topics = topics
        self._written = set(written)
        self._read = set(read) - self._written
        self._end = threading.Event()
        self._told: set[str] = set()
        self._thread = threading.Thread(target=self._run, name="brookmere-housekeeping", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """End, after the topic at hand."""
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
                # The application itself will tell what keeps it from working.
                if name not in self._told:
                    logger.warning("the topic %s cannot be maintained: %s", name, error)
                    self._told.add(name)

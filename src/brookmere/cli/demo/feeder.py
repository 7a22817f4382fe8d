"""Writes the lines of a poem to a topic, one every now and then."""

from __future__ import annotations

import itertools
import threading
from importlib.resources import files
from queue import SimpleQueue

import brookmere as bm
from brookmere.errors import BrookmereError
from brookmere.topics import Topics

_LINES_PER_SECOND = 2.5


class Feeder:
    """Feeds from the beginning, so that Spark finds a backlog when it is up."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._sent: SimpleQueue[str] = SimpleQueue()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._failure: BrookmereError | None = None

    def sent(self) -> list[str]:
        """Return the lines that were written since the last call; raise what made the feeding fail."""
        if self._failure is not None:
            raise self._failure
        return [self._sent.get() for _ in range(self._sent.qsize())]

    def stop(self) -> None:
        """Write no more."""
        self._end.set()
        self._thread.join()

    def __enter__(self) -> Feeder:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def _feed(self) -> None:
        poem = files("brookmere.cli.demo").joinpath("the_brook.txt").read_text().splitlines()
        try:
            with self._topics.producer("lines", key=bm.Text(), value=bm.Text()) as producer:
                for line in itertools.cycle(poem):
                    producer.send(value=line)
                    self._sent.put(line)
                    if self._end.wait(1 / _LINES_PER_SECOND):
                        return
        except BrookmereError as failure:
            self._failure = failure

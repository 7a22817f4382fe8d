"""Write to the topics of a demo at a steady rate."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Generator
from importlib.resources import files
from queue import SimpleQueue

import brookmere as bm
from brookmere.errors import BrookmereError
from brookmere.topics import Topics

Feed = Callable[[Topics], Generator[str, None, None]]
"""Writes one record per step, and yields a line to show for it."""


class Feeder:
    """Writes from the start, so that Spark finds a backlog once it is up."""

    def __init__(self, topics: Topics, feed: Feed, *, per_second: float) -> None:
        self._topics = topics
        self._feed = feed
        self._pause = 1 / per_second
        self._sent: SimpleQueue[str] = SimpleQueue()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._failure: BrookmereError | None = None

    def sent(self) -> list[str]:
        """Return what was written since the last call; raise the error if writing failed."""
        if self._failure is not None:
            raise self._failure
        return [self._sent.get() for _ in range(self._sent.qsize())]

    def stop(self) -> None:
        """Stop writing."""
        self._end.set()
        self._thread.join()

    def __enter__(self) -> Feeder:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def _run(self) -> None:
        steps = self._feed(self._topics)
        try:
            for line in steps:
                self._sent.put(line)
                if self._end.wait(self._pause):
                    return
        except BrookmereError as failure:
            self._failure = failure
        finally:
            steps.close()


def poem(topics: Topics) -> Generator[str, None, None]:
    """Write the lines of a poem to the topic "lines", over and over."""
    lines = files("brookmere.cli.demo").joinpath("the_brook.txt").read_text().splitlines()
    with topics.producer("lines", key=bm.Text(), value=bm.Text()) as producer:
        for line in itertools.cycle(lines):
            producer.send(value=line)
            yield line

"""What happens to records that fail: log lines for those that are skipped, a dead letter for the last one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator

from brookmere.errors import RecordError, TopicError, UnreachableError
from brookmere.record import Header, Record
from brookmere.topics import AnyTopic, AnyTopics

logger = logging.getLogger(__name__)

_PREFIX = "__streams.errors."
# A dead letter that an earlier start wrote is among the last ones.
_SEARCHED = 1000
_LINES_PER_SECOND = 5


def write_dead_letter(topics: AnyTopics, to: str, error: RecordError) -> None:
    """Append the record that failed with `error` to the topic `to`, as Kafka Streams does, but only once.

    If the handler is "continue", the sink writes dead letters together with the batch.
    """
    try:
        letter = _letter(topics, error)
        target = topics.create(to, exist_ok=True)
        if not any(_place(found) == _place(letter) for found in _last(target)):
            target.append([letter])
    except (TopicError, UnreachableError) as failure:
        # The application fails because of the record; this failure must not hide that.
        logger.error("the record that failed could not be written to %s: %s", to, failure)


def _letter(topics: AnyTopics, error: RecordError) -> Record:
    # A running application always knows these.
    topic, partition, offset = str(error.topic), int(error.partition or 0), int(error.offset or 0)
    source = topics[topic].record(partition, offset) if topic in topics else None
    if source is None:
        # Retention has removed it, or the clock was the cause: only what the failure itself holds is left.
        source = Record(error.key, error.value, -1)
    described = {
        "exception": error.reason or "",
        "message": error.message,
        "stacktrace": error.trace or "",
        "topic": topic,
        "partition": str(partition),
        "offset": str(offset),
    }
    headers: tuple[Header, ...] = tuple((_PREFIX + name, text.encode()) for name, text in described.items())
    return Record(source.key, source.value, source.timestamp, source.headers + headers)


def _last(topic: AnyTopic) -> Iterator[Record]:
    for partition, end in enumerate(topic.end_offsets()):
        start = max(end - _SEARCHED, topic.start_offsets()[partition])
        yield from topic.read(partition, start, end)


def _place(letter: Record) -> list[bytes | None]:
    headers = dict(letter.headers)
    return [headers.get(_PREFIX + part) for part in ("topic", "partition", "offset", "exception", "message")]


class SkippedLog:
    """Logs skipped records as warnings: a few per second, the others as a number."""

    def __init__(self, application: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._application = application
        self._clock = clock
        self._second = clock()
        self._logged = 0
        self._withheld = 0

    def add(self, errors: Iterable[RecordError]) -> None:
        """Log skipped records, and from time to time how many were not logged one by one."""
        if self._clock() - self._second >= 1.0:
            self.flush()
            self._second, self._logged = self._clock(), 0
        for error in errors:
            if self._logged < _LINES_PER_SECOND:
                logger.warning("%s skipped a record. %s", self._application, error)
                self._logged += 1
            else:
                self._withheld += 1

    def flush(self) -> None:
        """Log how many records were skipped without a line of their own."""
        if self._withheld:
            logger.warning("%s skipped %d more records", self._application, self._withheld)
            self._withheld = 0

"""Turns the record that stopped an application into a dead letter, as Kafka Streams writes it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from brookmere.errors import RecordError, TopicError, UnreachableError
from brookmere.record import Header, Record
from brookmere.topics import AnyTopic, AnyTopics

logger = logging.getLogger(__name__)

_PREFIX = "__streams.errors."
# A letter that a start before this one wrote lies among the last.
_LOOKED_AT = 1000


def write_dead_letter(topics: AnyTopics, to: str, error: RecordError) -> None:
    """Append the record behind `error`, as its topic holds it, to the topic `to`, unless it is there already.

    Where the handler is "continue" the sink writes the letters of a batch with the batch.
    """
    try:
        letter = _letter(topics, error)
        target = topics.create(to, exist_ok=True)
        if not any(_place(found) == _place(letter) for found in _last(target)):
            target.append([letter])
    except (TopicError, UnreachableError) as failure:
        # The application fails for the record's sake; this must not take its place.
        logger.error("the record that failed could not be written to %s: %s", to, failure)


def _letter(topics: AnyTopics, error: RecordError) -> Record:
    # All of these are known in a running application.
    topic, partition, offset = str(error.topic), int(error.partition or 0), int(error.offset or 0)
    source = topics[topic].record(partition, offset) if topic in topics else None
    if source is None:
        # Retention was quicker, or the clock alone was the cause: what the failure itself knows is left.
        source = Record(error.key, error.value, -1)
    told = {
        "exception": error.reason or "",
        "message": error.message,
        "stacktrace": error.trace or "",
        "topic": topic,
        "partition": str(partition),
        "offset": str(offset),
    }
    headers: tuple[Header, ...] = tuple((_PREFIX + name, text.encode()) for name, text in told.items())
    return Record(source.key, source.value, source.timestamp, source.headers + headers)


def _last(topic: AnyTopic) -> Iterator[Record]:
    for partition, end in enumerate(topic.end_offsets()):
        start = max(end - _LOOKED_AT, topic.start_offsets()[partition])
        yield from topic.read(partition, start, end)


def _place(letter: Record) -> list[bytes | None]:
    headers = dict(letter.headers)
    return [headers.get(_PREFIX + part) for part in ("topic", "partition", "offset", "exception", "message")]

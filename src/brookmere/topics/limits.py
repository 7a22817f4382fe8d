"""Checks that a topic accepts a record."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.errors import TopicError
from brookmere.record import Record
from brookmere.topics.log.columns import sizes_of
from brookmere.topics.log.folder import TopicFolder


class Partitioned(Protocol):
    """Anything with a name and partitions: a topic, or its folder."""

    @property
    def name(self) -> str: ...

    @property
    def partitions(self) -> int: ...


def check_content(folder: TopicFolder, content: pa.RecordBatch) -> None:
    """Raise a TopicError if a record is too large, or lacks the key that compaction needs."""
    if content.num_rows == 0:
        return
    if folder.config.compacts and content.column("key").null_count:
        raise _no_key(folder)
    largest = pc.max(sizes_of(content)).as_py()
    if largest > folder.config.max_message_bytes:
        raise _too_large(folder, largest)


def check_record(folder: TopicFolder, record: Record) -> None:
    """Check one record of bytes in the same way, and also its timestamp and partition."""
    if folder.config.compacts and record.key is None:
        raise _no_key(folder)
    size = len(record.key or b"") + len(record.value or b"")
    size += sum(len(name.encode()) + len(value or b"") for name, value in record.headers)
    if size > folder.config.max_message_bytes:
        raise _too_large(folder, size)
    if record.timestamp < -1:
        raise ValueError(
            f"A timestamp cannot be negative, found {record.timestamp}; use milliseconds since 1970 (UTC), "
            "or none for the current time"
        )
    if record.partition is not None:
        check_partition(folder, record.partition)


def check_partition(topic: Partitioned, partition: int) -> None:
    """Raise a TopicError if the topic does not have this partition."""
    if not 0 <= partition < topic.partitions:
        raise TopicError(
            f"The topic {topic.name!r} has no partition {partition}: it has {topic.partitions}, "
            "numbered from 0. Name one of these."
        )


def _no_key(folder: TopicFolder) -> TopicError:
    return TopicError(
        f"The topic {folder.name!r} is compacted and keeps the last record of each key: "
        "found a record without a key. Give every record a key."
    )


def _too_large(folder: TopicFolder, size: int) -> TopicError:
    return TopicError(
        f"A record is too large for the topic {folder.name!r}: found {size} bytes of key, value and headers, "
        f"max.message.bytes is {folder.config.max_message_bytes}. "
        "Send smaller records, or create the topic with a higher max.message.bytes."
    )

"""Retention: drops segments that are too old, or that exceed the size of a partition."""

from __future__ import annotations

from dataclasses import replace

from brookmere.topics.log.manifest import Manifest, PartitionLog, Trash
from brookmere.topics.settings import TopicConfig


def retained(log: PartitionLog, config: TopicConfig, now: int) -> PartitionLog:
    """Return a partition without its oldest segments, those past the age or size limit."""
    size = sum(segment.bytes for segment in log.segments)
    if config.retention_clock == "records":
        now = max((segment.max for segment in log.segments), default=now)
    gone = 0
    for segment in log.segments:
        too_old = 0 <= config.retention_ms < now - segment.max
        too_much = 0 <= config.retention_bytes <= size - segment.bytes
        if not (too_old or too_much):
            break
        size -= segment.bytes
        gone += 1
    left = log.segments[gone:]
    if not gone:
        return log
    return PartitionLog(left[0].base if left else log.end, log.end, left)


def expire(manifest: Manifest, config: TopicConfig, now: int) -> Manifest | None:
    """Return the manifest after retention, or None if nothing changes."""
    if not config.deletes:
        return None
    logs = tuple(retained(log, config, now) for log in manifest.partitions)
    if logs == manifest.partitions:
        return None
    thrown = tuple(
        Trash(segment.file, now)
        for before, after in zip(manifest.partitions, logs, strict=True)
        for segment in before.segments[: len(before.segments) - len(after.segments)]
    )
    return replace(manifest, partitions=logs, trash=manifest.trash + thrown)

"""Merging of small segments, so that a topic with many tiny appends stays fast to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brookmere.topics.log.folder import TopicFolder
from brookmere.topics.log.history import History
from brookmere.topics.log.manifest import Segment
from brookmere.topics.maintenance.rewrite import (
    MAX_SPAN,
    Rewrite,
    content_of_all,
    read_segment,
    write_rewritten,
)
from brookmere.topics.settings import TopicConfig
from brookmere.topics.times import now_ms

# So many adjacent segments of a size become one: each record is rewritten once per size, at most four times.
_TOGETHER = 16
_SIZES = (64 * 1024, 1024 * 1024, 16 * 1024 * 1024)
# With a retention, one segment should span at most this fraction of it.
_RETAINED_PARTS = 8


def due_merges(segments: Sequence[Segment], config: TopicConfig, *, all_sizes: bool = False) -> list[slice]:
    """Return the adjacent segments to merge: the smallest of which there are enough.

    There must be enough of one size, not only smaller ones next to one of them, so that a few small
    segments never cause a large one to be rewritten. With `all_sizes` all that fit together become one.
    """
    limit = _largest(config)
    sizes = [_size(segment, config, limit) for segment in segments]
    if all_sizes:
        return [group for run in _runs(sizes, len(_SIZES)) for group in _groups(segments, run, limit)]
    for size in range(len(_SIZES) + 1):
        due = [
            group
            for run in _runs(sizes, size)
            if sizes[run].count(size) >= _TOGETHER
            for group in _groups(segments, run, limit)
        ]
        if due:
            return due
    return []


def is_merge_due(segments: Sequence[Segment], config: TopicConfig) -> bool:
    """Return whether there are enough small segments; fast, because every append checks it."""
    return len(segments) >= _TOGETHER and bool(due_merges(segments, config))


def merge(folder: TopicFolder, partition: int, segments: Sequence[Segment]) -> Rewrite:
    """Write adjacent segments as one."""
    content = content_of_all(folder, partition, segments)
    return write_rewritten(folder, partition, segments, content, _history(folder, partition, segments))


def _history(folder: TopicFolder, partition: int, segments: Sequence[Segment]) -> History | None:
    if not folder.config.compacts:
        return None
    all_of_them = (History.of(read_segment(folder, partition, each).schema, each) for each in segments)
    return History.joined(all_of_them).shortened(folder.config, now_ms())


def _largest(config: TopicConfig) -> int:
    if config.deletes and config.retention_bytes >= 0:
        return min(config.segment_bytes, max(config.retention_bytes // _RETAINED_PARTS, _SIZES[0]))
    return config.segment_bytes


def _size(segment: Segment, config: TopicConfig, limit: int) -> int:
    """Return the size class of a segment; segments that stay unchanged get a class above all others."""
    if segment.bytes * 2 > limit:
        return len(_SIZES) + 1
    size = sum(segment.bytes >= bound for bound in _SIZES)
    is_wide = 0 <= config.retention_ms <= (segment.max - segment.min) * _RETAINED_PARTS
    # Retention deletes whole segments, so a segment that already spans much of the retention must not grow.
    return len(_SIZES) + 1 if size and is_wide and config.deletes else size


def _runs(sizes: Sequence[int], largest: int) -> Iterator[slice]:
    start = 0
    for place, size in enumerate([*sizes, largest + 1]):
        if size > largest:
            if place - start > 1:
                yield slice(start, place)
            start = place + 1


def _groups(segments: Sequence[Segment], run: slice, limit: int) -> Iterator[slice]:
    """Split a run so that no group is larger than a segment may be."""
    start = run.start
    size = 0
    for place in range(run.start, run.stop):
        segment = segments[place]
        too_long = segment.end - segments[start].base > MAX_SPAN
        if place > start and (size + segment.bytes > limit or too_long):
            if place - start > 1:
                yield slice(start, place)
            start, size = place, 0
        size += segment.bytes
    if run.stop - start > 1:
        yield slice(start, run.stop)

"""Compaction: keeps only the last record of each key of a partition."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.topics.log.folder import TopicFolder
from brookmere.topics.log.history import COMPACTED_MARK, History
from brookmere.topics.log.manifest import PartitionLog, Segment
from brookmere.topics.log.segment import batches, delta_values, with_offsets
from brookmere.topics.maintenance.rewrite import MAX_SPAN, Rewrite, read_segment, rebased, write_rewritten

# Compaction reads and writes the whole partition, so it waits until as much is new as is compacted.
_NEW_PART = 0.5
# Keys of this many bytes of segments are reduced to their last records at once.
_AT_ONCE = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Cleaning:
    """What compaction needs to know about a partition."""

    folder: TopicFolder
    partition: int
    now: int
    histories: dict[str, History]
    upto: int


def compact(
    folder: TopicFolder, partition: int, log: PartitionLog, now: int, *, full: bool = False
) -> Iterator[Rewrite]:
    """Rewrite the segments of a partition without records that a later one of their key replaces.

    Records younger than min.compaction.lag.ms are neither removed nor replace others. A delete marker, a
    record without a value, is removed if it is the last of its key and older than delete.retention.ms.
    The rewrites must be applied in this order: otherwise a value could outlive the delete marker after it.
    """
    histories = {each.file: _history(folder, partition, each) for each in log.segments}
    upto = _first_young(folder, partition, log, histories, now)
    segments = [segment for segment in log.segments if segment.base < upto]
    cleaning = _Cleaning(folder, partition, now, histories, upto)
    if not segments or not (full or _is_due(segments, cleaning)):
        return
    last = _last_offsets(segments, cleaning)
    for group in _groups(segments, folder.config.segment_bytes):
        rewrite = _rewrite(group, last, cleaning)
        if rewrite is not None:
            yield rewrite


def _history(folder: TopicFolder, partition: int, segment: Segment) -> History:
    return History.of(read_segment(folder, partition, segment).schema, segment)


def _first_young(
    folder: TopicFolder, partition: int, log: PartitionLog, histories: dict[str, History], now: int
) -> int:
    lag = folder.config.min_compaction_lag_ms
    if lag == 0:
        return log.end
    limit = now - lag
    for segment in log.segments:
        young = [histories[segment.file].first_after(limit, segment.base)]
        if segment.max > limit:
            young.append(_first_timed_after(limit, folder, partition, segment))
        found = [offset for offset in young if offset is not None]
        if found:
            return min(found)
    return log.end


def _first_timed_after(limit: int, folder: TopicFolder, partition: int, segment: Segment) -> int | None:
    for batch in batches(read_segment(folder, partition, segment)):
        times = batch.column("timestamp").cast(pa.int64())
        first = pc.index(pc.greater(times, pa.scalar(limit, pa.int64())), True).as_py()
        if first >= 0:
            return int(segment.base + delta_values(batch)[first])
    return None


def _is_due(segments: Sequence[Segment], cleaning: _Cleaning) -> bool:
    new = sum(
        segment.bytes
        for segment in segments
        if not segment.file.endswith(COMPACTED_MARK) and segment.end <= cleaning.upto
    )
    if new and new >= _NEW_PART * sum(segment.bytes for segment in segments):
        return True
    limit = cleaning.now - cleaning.folder.config.delete_retention_ms
    return any(
        history.deletion is not None
        and history.deletion < cleaning.upto
        and history.time_of(history.deletion) < limit
        for history in (cleaning.histories[segment.file] for segment in segments)
    )


def _last_offsets(segments: Sequence[Segment], cleaning: _Cleaning) -> pa.Array:
    """Return, sorted, the offset of the last record of each key among those that are old enough."""
    last: pa.Table | None = None
    held: list[pa.Table] = []
    size = 0
    for segment in segments:
        for batch in batches(read_segment(cleaning.folder, cleaning.partition, segment)):
            table = pa.Table.from_batches([with_offsets(batch, segment.base).select(["key", "offset"])])
            held.append(table.filter(pc.less(table["offset"], pa.scalar(cleaning.upto, pa.int64()))))
        size += segment.bytes
        if size >= _AT_ONCE:
            last, held, size = _reduced(last, held), [], 0
    last = _reduced(last, held)
    return last["offset"].combine_chunks().sort()


def _reduced(last: pa.Table | None, more: list[pa.Table]) -> pa.Table:
    known = [] if last is None else [last]
    grouped = pa.concat_tables([*known, *more]).group_by("key").aggregate([("offset", "max")])
    return grouped.select(["key", "offset_max"]).rename_columns(["key", "offset"])


def _groups(segments: Sequence[Segment], limit: int) -> Iterator[list[Segment]]:
    group: list[Segment] = []
    for segment in segments:
        size = sum(each.bytes for each in group) + segment.bytes
        if group and (size > limit or segment.end - group[0].base > MAX_SPAN):
            yield group
            group = []
        group.append(segment)
    if group:
        yield group


def _rewrite(group: Sequence[Segment], last: pa.Array, cleaning: _Cleaning) -> Rewrite | None:
    folder, partition = cleaning.folder, cleaning.partition
    history = History.joined(cleaning.histories[segment.file] for segment in group)
    limit = cleaning.now - folder.config.delete_retention_ms
    deleted_below = history.first_after(limit - 1, group[0].base)
    content: list[pa.RecordBatch] = []
    deletion: int | None = None
    for segment in group:
        for batch in batches(read_segment(folder, partition, segment)):
            kept = _kept(batch, segment.base, last, cleaning.upto, deleted_below)
            first = pc.index(kept.column("value").is_null(), True).as_py() if kept.num_rows else -1
            if first >= 0 and deletion is None:
                deletion = int(segment.base + delta_values(kept)[first])
            content.append(rebased(kept, segment.base - group[0].base))
    is_compacted = group[-1].end <= cleaning.upto
    unchanged = sum(batch.num_rows for batch in content) == sum(segment.rows for segment in group)
    if unchanged and (not is_compacted or (len(group) == 1 and history.compacted)):
        return None
    noted = replace(history, deletion=deletion, compacted=is_compacted).shortened(folder.config, cleaning.now)
    return write_rewritten(folder, partition, group, content, noted)


def _kept(
    batch: pa.RecordBatch, base: int, last: pa.Array, upto: int, deleted_below: int | None
) -> pa.RecordBatch:
    offsets = with_offsets(batch, base).column("offset")
    first, end = offsets[0].as_py(), offsets[-1].as_py() + 1
    numbers = memoryview(last.buffers()[1]).cast("q")[last.offset : last.offset + len(last)]
    low, high = bisect_left(numbers, first), bisect_left(numbers, end)
    is_last = pc.is_in(offsets, value_set=last.slice(low, high - low))
    is_young = pc.greater_equal(offsets, pa.scalar(upto, pa.int64()))
    below = 2**63 - 1 if deleted_below is None else deleted_below
    is_old = pc.less(offsets, pa.scalar(min(below, upto), pa.int64()))
    is_deletion = pc.and_(batch.column("value").is_null(), is_old)
    return batch.filter(pc.and_not(pc.or_(is_last, is_young), is_deletion))

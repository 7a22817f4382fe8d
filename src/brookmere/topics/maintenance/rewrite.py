"""Rewriting adjacent segments as one with the same offsets, for merging and compaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.topics.log.folder import TopicFolder
from brookmere.topics.log.history import History
from brookmere.topics.log.manifest import Manifest, PartitionLog, Segment, Trash
from brookmere.topics.log.segment import MAX_BATCH_BYTES, MAX_ROWS, SEGMENT_SCHEMA, batches
from brookmere.topics.log.segment_reader import damaged, opened
from brookmere.topics.log.segment_writer import joined, write_segment

# Deltas are 32-bit integers.
MAX_SPAN = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Segments of a partition, and the one that replaces them; None if none of their records are left."""

    partition: int
    old: tuple[Segment, ...]
    new: Segment | None


def read_segment(folder: TopicFolder, partition: int, segment: Segment) -> pa.ipc.RecordBatchFileReader:
    """Open a segment that must exist."""
    reader = opened(folder, partition, segment)
    if reader is None:
        # Only maintenance and repair remove files, one process at a time; otherwise the topic is gone.
        folder.manifest()
        raise damaged(folder, partition, segment, "it is missing")
    return reader


def rebased(batch: pa.RecordBatch, shift: int) -> pa.RecordBatch:
    """Return a segment's batch with all deltas shifted."""
    deltas = pc.add(batch.column("delta"), pa.scalar(shift, pa.int32())) if shift else batch.column("delta")
    return pa.RecordBatch.from_arrays([deltas, *batch.columns[1:]], schema=SEGMENT_SCHEMA)


def write_rewritten(
    folder: TopicFolder,
    partition: int,
    old: Sequence[Segment],
    content: Iterable[pa.RecordBatch],
    history: History | None = None,
) -> Rewrite:
    """Write batches, whose deltas count from the first old segment's base, as one segment."""
    written = write_segment(
        folder.segments,
        partition,
        combined(content),
        at=max(segment.at for segment in old),
        schema=history.noted_in(SEGMENT_SCHEMA) if history else SEGMENT_SCHEMA,
        mark=".compacted" if history and history.compacted else "",
    )
    if written:
        written = replace(written, base=old[0].base, end=old[-1].end)
    return Rewrite(partition, tuple(old), written)


def combined(parts: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Combine small batches into large ones."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for part in parts:
        if held and (rows + part.num_rows > MAX_ROWS or size + part.nbytes > MAX_BATCH_BYTES):
            yield joined(held)
            held, rows, size = [], 0, 0
        if part.num_rows:
            held.append(part)
            rows += part.num_rows
            size += part.nbytes
    if held:
        yield joined(held)


def content_of_all(
    folder: TopicFolder, partition: int, segments: Sequence[Segment]
) -> Iterator[pa.RecordBatch]:
    """Read adjacent segments, with deltas that count from the first one's base."""
    for segment in segments:
        for batch in batches(read_segment(folder, partition, segment)):
            yield rebased(batch, segment.base - segments[0].base)


def replaced(manifest: Manifest, rewrite: Rewrite, now: int) -> Manifest | None:
    """Return the manifest with the old segments replaced; None if they have changed."""
    log = manifest.partitions[rewrite.partition]
    old = rewrite.old
    if old[0] not in log.segments:
        return None
    first = log.segments.index(old[0])
    if log.segments[first : first + len(old)] != old:
        return None
    new = (rewrite.new,) if rewrite.new else ()
    segments = log.segments[:first] + new + log.segments[first + len(old) :]
    changed = manifest.with_partition(rewrite.partition, PartitionLog(log.start, log.end, segments))
    thrown = tuple(Trash(segment.file, now) for segment in old)
    return replace(changed, trash=changed.trash + thrown)

"""Reading a partition's segments, even while others merge and delete them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.errors import DamagedTopicError, DataLossError
from brookmere.topics.limits import check_partition
from brookmere.topics.log.files import refused
from brookmere.topics.log.folder import TopicFolder
from brookmere.topics.log.manifest import PartitionLog, Segment
from brookmere.topics.log.segment import (
    DamagedSegment,
    batches,
    between,
    delta_values,
    open_segment,
    with_offsets,
)


def read_batches(
    folder: TopicFolder, partition: int, start: int | None = None, end: int | None = None
) -> Iterator[pa.RecordBatch]:
    """Read the current records of a partition from offset `start` up to but excluding `end`."""
    check_partition(folder, partition)
    log = folder.manifest().partitions[partition]
    at = log.start if start is None else start
    stop = log.end if end is None else min(end, log.end)
    _check_start(folder, partition, log, at)
    return _batches(folder, partition, log, at, stop)


def first_offset_at(folder: TopicFolder, partition: int, log: PartitionLog, time: int) -> int:
    """Return the first offset whose record is not older than `time`, or the end offset."""
    for segment in log.segments:
        if segment.max < time:
            continue
        reader = opened(folder, partition, segment)
        if reader is None:
            fresh = _fresh(folder, partition, segment)
            return first_offset_at(folder, partition, fresh, time)
        for batch in batches(reader):
            live = between(batch, segment.base, log.start, segment.end)
            times = live.column("timestamp").cast(pa.int64())
            first = pc.index(pc.greater_equal(times, pa.scalar(time, pa.int64())), True).as_py()
            if first >= 0:
                return int(segment.base + delta_values(live)[first])
    return log.end


def _batches(
    folder: TopicFolder, partition: int, log: PartitionLog, at: int, stop: int
) -> Iterator[pa.RecordBatch]:
    while at < stop:
        index = bisect_right(log.segments, at, key=lambda segment: segment.end)
        if index == len(log.segments) or log.segments[index].base >= stop:
            return
        segment = log.segments[index]
        reader = opened(folder, partition, segment)
        if reader is None:
            log = _fresh(folder, partition, segment)
            _check_start(folder, partition, log, at)
            continue
        for batch in batches(reader):
            chosen = between(batch, segment.base, at, stop)
            if chosen.num_rows:
                yield with_offsets(chosen, segment.base)
        at = segment.end


def find_record(folder: TopicFolder, partition: int, offset: int) -> pa.RecordBatch | None:
    """Return a batch with one record, or None if this offset has none."""
    check_partition(folder, partition)
    log = folder.manifest().partitions[partition]
    if not log.start <= offset < log.end:
        return None
    return next(_batches(folder, partition, log, offset, offset + 1), None)


def opened(folder: TopicFolder, partition: int, segment: Segment) -> pa.ipc.RecordBatchFileReader | None:
    """Open a segment; None if its file is missing, a DamagedTopicError if it is damaged."""
    try:
        return open_segment(folder.segments, segment)
    except FileNotFoundError:
        return None
    except PermissionError as error:
        what = f"The topic {folder.name!r} cannot be read"
        raise refused(what, folder.segments / segment.file, error) from error
    except OSError as error:
        raise damaged(folder, partition, segment, f"the disk cannot read it ({error.strerror})") from error
    except DamagedSegment as error:
        raise damaged(folder, partition, segment, str(error)) from error


def _fresh(folder: TopicFolder, partition: int, missing: Segment) -> PartitionLog:
    """Return the new log, in which merging or cleaning has replaced the missing file."""
    log = folder.manifest().partitions[partition]
    if missing in log.segments:
        raise damaged(folder, partition, missing, "it is missing")
    return log


def _check_start(folder: TopicFolder, partition: int, log: PartitionLog, at: int) -> None:
    if log.start <= at <= log.end:
        return
    where = f"Partition {partition} of the topic {folder.name!r} cannot be read from offset {at}"
    if at < log.start:
        raise DataLossError(
            f"{where}: its first offset is {log.start}, retention has deleted the earlier records. "
            "Read from the first remaining record (start=None), and extend the retention."
        )
    raise DataLossError(
        f"{where}: it ends at {log.end}. Read from an offset up to its end; "
        "if this offset existed before, the topic was deleted or repaired since."
    )


def damaged(folder: TopicFolder, partition: int, segment: Segment, found: str) -> DamagedTopicError:
    """Return the error for an unreadable segment."""
    path = folder.segments / segment.file
    return DamagedTopicError(
        f"A segment of the topic {folder.name!r} is damaged, with the offsets {segment.base} to "
        f"{segment.end - 1} of partition {partition}: {found} ({path}). Restore the file from a backup, or "
        f"discard these records with `brookmere topics repair {folder.name}`.",
        topic=folder.name,
        file=str(path),
        partition=partition,
        start=segment.base,
        end=segment.end,
    )

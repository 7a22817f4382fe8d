"""Segment files: their layout, opening them and checking them."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.topics.log.manifest import Segment

MAX_ROWS = 65_536
MAX_BATCH_BYTES = 16 * 1024 * 1024

HEADERS = pa.list_(pa.field("item", pa.struct([("key", pa.utf8()), ("value", pa.binary())])))
TIMESTAMP = pa.timestamp("ms", "UTC")
_CONTENT = [
    pa.field("timestamp", TIMESTAMP, nullable=False),
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("headers", HEADERS),
]
CONTENT_SCHEMA = pa.schema(_CONTENT)
SEGMENT_SCHEMA = pa.schema([pa.field("delta", pa.int32(), nullable=False), *_CONTENT])
READ_SCHEMA = pa.schema([pa.field("offset", pa.int64(), nullable=False), *_CONTENT])


class DamagedSegment(Exception):  # noqa: N818 - the reader makes a DamagedTopicError of it, with topic and offsets.
    """A segment file that differs from what was written; the message says how."""


# Files are immutable, so each process checks a checksum only once.
_checked: dict[tuple[str, int, int], None] = {}
_CHECKED_LIMIT = 100_000


def open_segment(folder: Path, segment: Segment, *, check: bool = False) -> pa.ipc.RecordBatchFileReader:
    """Map a segment file into memory; check its checksum the first time, or on demand.

    Raises FileNotFoundError if there is no such file, DamagedSegment if it is not what was written.
    """
    path = folder / segment.file
    size = path.stat().st_size
    if size != segment.bytes:
        raise DamagedSegment(f"it has {size} bytes instead of {segment.bytes}")
    identity = (str(path), segment.bytes, segment.crc)
    if check or identity not in _checked:
        # Reading raises an error if the disk fails; with a memory map the process would crash.
        found = checksum(path)
        if found != segment.crc:
            raise DamagedSegment(f"its checksum is {found} instead of {segment.crc}")
        if len(_checked) >= _CHECKED_LIMIT:
            _checked.clear()
        _checked[identity] = None
    try:
        return pa.ipc.open_file(pa.memory_map(str(path)))
    except pa.ArrowInvalid as error:
        raise DamagedSegment(f"it is not an Arrow file: {error}") from error


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    crc = 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc


def batches(reader: pa.ipc.RecordBatchFileReader) -> Iterable[pa.RecordBatch]:
    """Iterate over the batches of a segment."""
    return (reader.get_batch(number) for number in range(reader.num_record_batches))


def between(batch: pa.RecordBatch, base: int, start: int, end: int) -> pa.RecordBatch:
    """Return the records of a segment's batch with offsets from `start` up to but excluding `end`."""
    deltas = delta_values(batch)
    first = bisect_left(deltas, start - base)
    last = bisect_left(deltas, end - base, lo=first)
    return batch.slice(first, last - first)


def delta_values(batch: pa.RecordBatch) -> memoryview:
    """Return the deltas of a batch without copying them."""
    column = batch.column("delta")
    numbers = memoryview(column.buffers()[1]).cast("i")
    return numbers[column.offset : column.offset + len(column)]


def with_offsets(batch: pa.RecordBatch, base: int) -> pa.RecordBatch:
    """Replace deltas with offsets."""
    offsets = pc.add(batch.column("delta").cast(pa.int64()), pa.scalar(base, pa.int64()))
    return pa.RecordBatch.from_arrays([offsets, *batch.columns[1:]], schema=READ_SCHEMA)

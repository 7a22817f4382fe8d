"""Turns record batches into segment files, and segment files into record batches."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.topics.files import unique, write_durably
from brookmere.topics.manifest import Segment

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

_IPC = pa.ipc.IpcWriteOptions(compression=None)
_STEPS = pa.array(range(MAX_ROWS), pa.int32())


class DamagedSegment(Exception):  # noqa: N818 - the reader makes a DamagedTopicError of it, with topic and offsets.
    """A segment file that is not as it was written; the message says what was found."""


@dataclass(slots=True)
class _Sink:
    stream: pa.BufferOutputStream
    writer: pa.ipc.RecordBatchFileWriter
    end: int = 0
    rows: int = 0
    lowest: int = 2**63 - 1
    highest: int = -(2**63)


class SegmentWriter:
    """Collects the batches of one segment in memory, to write the file at once with its checksum."""

    def __init__(self, schema: pa.Schema = SEGMENT_SCHEMA) -> None:
        stream = pa.BufferOutputStream()
        self._sink = _Sink(stream, pa.ipc.new_file(stream, schema, options=_IPC))

    @property
    def rows(self) -> int:
        """How many records there are so far."""
        return self._sink.rows

    @property
    def size(self) -> int:
        """How many bytes there are so far."""
        return int(self._sink.stream.tell())

    def append(self, content: pa.RecordBatch) -> None:
        """Add records whose offsets follow the last one."""
        for batch in split(content):
            deltas = pc.add(_STEPS.slice(0, batch.num_rows), pa.scalar(self._sink.end, pa.int32()))
            self._write(pa.RecordBatch.from_arrays([deltas, *batch.columns], schema=SEGMENT_SCHEMA))

    def append_with_deltas(self, batch: pa.RecordBatch) -> None:
        """Add records with a delta column."""
        for part in split(batch):
            self._write(part)

    def _write(self, batch: pa.RecordBatch) -> None:
        sink = self._sink
        sink.writer.write_batch(batch)
        times = pc.min_max(batch.column("timestamp").cast(pa.int64())).as_py()
        sink.lowest = min(sink.lowest, times["min"])
        sink.highest = max(sink.highest, times["max"])
        sink.rows += batch.num_rows
        sink.end = batch.column("delta")[-1].as_py() + 1

    def finish(self, folder: Path, partition: int, *, at: int, mark: str = "") -> Segment:
        """Write the file; the segment it returns begins at offset 0, and is yet to be moved to its base."""
        sink = self._sink
        sink.writer.close()
        data = memoryview(sink.stream.getvalue())
        file = f"{partition}-{unique()}{mark}.arrow"
        temporary = folder / f"{file}.tmp"
        write_durably(temporary, data)
        try:
            temporary.replace(folder / file)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        crc = zlib.crc32(data)
        return Segment(file, 0, sink.end, sink.rows, data.nbytes, crc, sink.lowest, sink.highest, at)


def split(batch: pa.RecordBatch, most: int = MAX_BATCH_BYTES) -> Iterator[pa.RecordBatch]:
    """Cut a batch so that no part has more rows or bytes than a reader should have to hold."""
    if batch.num_rows <= MAX_ROWS and (batch.nbytes <= most or batch.num_rows <= 1):
        if batch.num_rows:
            yield batch
        return
    half = MAX_ROWS if batch.num_rows > MAX_ROWS else batch.num_rows // 2
    yield from split(batch.slice(0, half), most)
    yield from split(batch.slice(half), most)


def joined(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Make one batch of several of the same columns."""
    if len(parts) == 1:
        return parts[0]
    table = pa.Table.from_batches(parts)
    columns = [column.combine_chunks() for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


# Files are immutable, so one look at their checksum is enough for a process.
_checked: dict[tuple[str, int, int], None] = {}
_CHECKED_LIMIT = 100_000


def open_segment(folder: Path, segment: Segment, *, check: bool = False) -> pa.ipc.RecordBatchFileReader:
    """Map a segment file into memory, after a look at its checksum the first time or on demand.

    FileNotFoundError where there is none; DamagedSegment where it is not what was written.
    """
    path = folder / segment.file
    size = path.stat().st_size
    if size != segment.bytes:
        raise DamagedSegment(f"it has {size} bytes, {segment.bytes} were written")
    identity = (str(path), segment.bytes, segment.crc)
    if check or identity not in _checked:
        # Reading, unlike a memory map, turns a disk that fails into an error and not into a dead process.
        found = checksum(path)
        if found != segment.crc:
            raise DamagedSegment(f"its checksum is {found}, {segment.crc} was written")
        if len(_checked) >= _CHECKED_LIMIT:
            _checked.clear()
        _checked[identity] = None
    try:
        return pa.ipc.open_file(pa.memory_map(str(path)))
    except pa.ArrowInvalid as error:
        raise DamagedSegment(f"it is no Arrow file: {error}") from error


def checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    crc = 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc


def batches(reader: pa.ipc.RecordBatchFileReader) -> Iterable[pa.RecordBatch]:
    """Go through the batches of a segment."""
    return (reader.get_batch(number) for number in range(reader.num_record_batches))


def between(batch: pa.RecordBatch, base: int, start: int, end: int) -> pa.RecordBatch:
    """Return the records of a segment's batch with offsets from `start` to before `end`."""
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
    """Put offsets in the place of deltas."""
    offsets = pc.add(batch.column("delta").cast(pa.int64()), pa.scalar(base, pa.int64()))
    return pa.RecordBatch.from_arrays([offsets, *batch.columns[1:]], schema=READ_SCHEMA)

"""Writing segment files."""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.topics.log.files import unique
from brookmere.topics.log.manifest import Segment
from brookmere.topics.log.segment import MAX_BATCH_BYTES, MAX_ROWS, SEGMENT_SCHEMA

_OPTIONS = pa.ipc.IpcWriteOptions(compression=None)
# pa.array() would make Arrow import pandas if it is installed.
_STEPS = pa.Array.from_buffers(pa.int32(), MAX_ROWS, [None, pa.py_buffer(array("i", range(MAX_ROWS)))])
_BUFFER_BYTES = 256 * 1024


class _Summed:
    """A file that is written sequentially, and its checksum."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.crc = 0
        self.size = 0

    def write(self, data: bytes) -> int:
        self.crc = zlib.crc32(data, self.crc)
        self.size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        """Leave the file open: it still has to be synced."""


def write_segment(
    folder: Path,
    partition: int,
    content: Iterable[pa.RecordBatch],
    *,
    at: int,
    schema: pa.Schema = SEGMENT_SCHEMA,
    mark: str = "",
) -> Segment | None:
    """Write batches with deltas as one file and wait until it is on disk; None if there are no records.

    The segment starts at offset 0; the caller moves it to its base. After a failure there is no file.
    """
    file = f"{partition}-{unique()}{mark}.arrow"
    temporary = folder / f"{file}.tmp"
    lowest, highest, rows, end = 2**63 - 1, -(2**63), 0, 0
    try:
        with temporary.open("xb", buffering=_BUFFER_BYTES) as out:
            summed = _Summed(out)
            writer = pa.ipc.new_file(pa.PythonFile(summed, "w"), schema, options=_OPTIONS)
            for batch in content:
                for part in split(batch):
                    writer.write_batch(part)
                    times = pc.min_max(part.column("timestamp").cast(pa.int64())).as_py()
                    lowest, highest = min(lowest, times["min"]), max(highest, times["max"])
                    rows += part.num_rows
                    end = part.column("delta")[-1].as_py() + 1
            if rows:
                writer.close()
                out.flush()
                os.fsync(out.fileno())
        if rows:
            temporary.replace(folder / file)
            return Segment(file, 0, end, rows, summed.size, summed.crc, lowest, highest, at)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    temporary.unlink()
    return None


def numbered(content: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Number records with deltas, from 0."""
    end = 0
    for whole in content:
        for batch in split(whole):
            deltas = pc.add(_STEPS.slice(0, batch.num_rows), pa.scalar(end, pa.int32()))
            yield pa.RecordBatch.from_arrays([deltas, *batch.columns], schema=SEGMENT_SCHEMA)
            end += batch.num_rows


def split(batch: pa.RecordBatch, most: int = MAX_BATCH_BYTES) -> Iterator[pa.RecordBatch]:
    """Split a batch so that no part has more rows or bytes than a reader should hold in memory."""
    if batch.num_rows <= MAX_ROWS and (batch.nbytes <= most or batch.num_rows <= 1):
        if batch.num_rows:
            yield batch
        return
    half = MAX_ROWS if batch.num_rows > MAX_ROWS else batch.num_rows // 2
    yield from split(batch.slice(0, half), most)
    yield from split(batch.slice(half), most)


def joined(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Combine batches with the same columns."""
    if len(parts) == 1:
        return parts[0]
    table = pa.Table.from_batches(parts)
    columns = [column.combine_chunks() for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)

"""An embedded topic: append records, read them, and describe its contents."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from brookmere.errors import TopicError
from brookmere.record import Record
from brookmere.topics.limits import check_partition, check_record
from brookmere.topics.log.append import Append, Appended, Writer, has_appended
from brookmere.topics.log.columns import content_from, content_of, records_of
from brookmere.topics.log.folder import TopicFolder
from brookmere.topics.log.manifest import Manifest, PartitionLog, WriterPosition
from brookmere.topics.log.segment_reader import find_record, first_offset_at, read_batches
from brookmere.topics.log.segment_writer import joined
from brookmere.topics.maintenance.maintenance import Maintained, maintain, merge_if_due
from brookmere.topics.maintenance.repair import Repair, repair
from brookmere.topics.routing import Router
from brookmere.topics.settings import TopicConfig
from brookmere.topics.times import now_ms

_BLOCK_RECORDS = 4096
_HELD_RECORDS = 1_000_000
_HELD_BYTES = 64 * 1024 * 1024
_MERGE_PAUSE_SECONDS = 60.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """The contents of a partition: offsets from `start` to before `end`; compaction leaves gaps."""

    start: int
    end: int
    records: int
    bytes: int
    segments: int
    last_timestamp: int | None


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """The contents of a topic."""

    name: str
    id: str
    partitions: list[PartitionInfo]
    config: TopicConfig
    writers: Mapping[str, WriterPosition]

    @property
    def records(self) -> int:
        """The number of records in the topic."""
        return sum(partition.records for partition in self.partitions)

    @property
    def bytes(self) -> int:
        """The total size of the record files in bytes."""
        return sum(partition.bytes for partition in self.partitions)


class Topic:
    """A topic in a directory. Create or open one with `Topics`. Any number of processes can use it."""

    def __init__(self, folder: TopicFolder) -> None:
        self._folder = folder
        self._router = Router(folder.name, folder.partitions)
        self._merge_again = 0.0

    @property
    def name(self) -> str:
        """The topic's name."""
        return self._folder.name

    @property
    def id(self) -> str:
        """Distinguishes this topic from an earlier one of the same name."""
        return self._folder.id

    @property
    def partitions(self) -> int:
        """The number of partitions."""
        return self._folder.partitions

    @property
    def config(self) -> TopicConfig:
        """The topic's settings."""
        return self._folder.config

    @property
    def directory(self) -> Path:
        """The topic's folder."""
        return self._folder.directory

    def __repr__(self) -> str:
        return f"Topic({self.name!r}, partitions={self.partitions}, directory={str(self.directory)!r})"

    def append(self, records: Iterable[Record], *, writer: Writer | None = None) -> Appended:
        """Append records atomically and return their offsets.

        Keys and values are bytes or None. A record goes to the partition it names, or to its key's,
        chosen as Kafka does; records without a key are distributed round-robin. A timestamp of -1 means now.
        A writer's batch that was already appended is ignored.
        """
        parts = (self._router.parts(content, named) for content, named in _held(records))
        return self._append(parts, writer)

    def append_batch(
        self, partition: int | None, data: pa.RecordBatch | pa.Table, *, writer: Writer | None = None
    ) -> Appended:
        """Append columns named timestamp, key, value and headers atomically.

        Only value is required. `partition=None` chooses partitions by key, as `append` does.
        """
        if partition is not None:
            check_partition(self._folder, partition)
        batches = data.to_batches() if isinstance(data, pa.Table) else [data]
        contents = (content_from(batch, now_ms()) for batch in batches)
        if partition is None:
            return self._append(map(self._router.parts, contents), writer)
        return self._append(([(partition, content)] for content in contents), writer)

    def read(self, partition: int, start: int | None = None, end: int | None = None) -> Iterator[Record]:
        """Read the current records of a partition, from offset `start` up to but excluding `end`."""
        batches = self.read_batches(partition, start, end)
        return chain.from_iterable(records_of(batch, self.name, partition) for batch in batches)

    def read_batches(
        self, partition: int, start: int | None = None, end: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read like `read`, in batches with the columns offset, timestamp, key, value and headers."""
        return read_batches(self._folder, partition, start, end)

    def record(self, partition: int, offset: int) -> Record | None:
        """Return the record at an offset, or None if there is none, for example after compaction."""
        batch = find_record(self._folder, partition, offset)
        return None if batch is None else next(records_of(batch, self.name, partition))

    def start_offsets(self) -> list[int]:
        """Return the first readable offset of each partition."""
        return [log.start for log in self._folder.manifest().partitions]

    def end_offsets(self) -> list[int]:
        """Return the next offset of each partition."""
        return [log.end for log in self._folder.manifest().partitions]

    def offsets_for_time(self, timestamp: int) -> list[int]:
        """Return, for each partition, the first offset whose timestamp is not lower, or its end offset."""
        logs = enumerate(self._folder.manifest().partitions)
        return [first_offset_at(self._folder, partition, log, timestamp) for partition, log in logs]

    def maintain(self, *, full: bool = False) -> Maintained:
        """Apply retention, compact, and merge small segments, as far as this is due.

        With `full`, compact and merge as much as possible.
        """
        return maintain(self._folder, full=full)

    def repair(self, *, execute: bool = False) -> Repair:
        """Check every file and report damage; with `execute`, remove damaged files to make the rest readable.

        Damaged files are kept in segments/damaged.
        """
        return repair(self._folder, execute=execute)

    def check(self, record: Record) -> None:
        """Raise the error that appending this record, with bytes or None as key and value, would raise."""
        check_record(self._folder, record)

    def describe(self) -> TopicInfo:
        """Describe the contents of the topic."""
        manifest = self._folder.manifest()
        partitions = [_info(log) for log in manifest.partitions]
        return TopicInfo(self.name, self.id, partitions, self.config, manifest.writers)

    def _append(
        self, blocks: Iterable[Iterable[tuple[int, pa.RecordBatch]]], writer: Writer | None
    ) -> Appended:
        if writer is not None and has_appended(self._folder.manifest(), writer):
            return Appended({}, duplicate=True)
        append = Append(self._folder)
        try:
            for parts in blocks:
                for partition, part in parts:
                    append.write(partition, part)
            appended, manifest = append.commit(writer)
        except Exception:
            append.discard()
            raise
        self._merge(manifest, appended.offsets)
        return appended

    def _merge(self, manifest: Manifest, partitions: Iterable[int]) -> None:
        if time.monotonic() < self._merge_again:
            return
        try:
            merge_if_due(self._folder, manifest, partitions)
        except (TopicError, OSError) as error:
            # The records are written, so the append has not failed; merging can wait.
            self._merge_again = time.monotonic() + _MERGE_PAUSE_SECONDS
            _log.warning("%s", error)


def _held(records: Iterable[Record]) -> Iterator[tuple[pa.RecordBatch, list[int | None]]]:
    """Convert records to batches that fit in memory, with the partitions that they name."""
    held: list[pa.RecordBatch] = []
    named: list[int | None] = []
    size = 0
    source = iter(records)
    while block := list(islice(source, _BLOCK_RECORDS)):
        content = content_of(block, now_ms())
        held.append(content)
        named += [record.partition for record in block]
        size += content.nbytes
        if size >= _HELD_BYTES or len(named) >= _HELD_RECORDS:
            yield joined(held), named
            held, named, size = [], [], 0
    if held:
        yield joined(held), named


def _info(log: PartitionLog) -> PartitionInfo:
    return PartitionInfo(
        start=log.start,
        end=log.end,
        records=sum(segment.rows for segment in log.segments),
        bytes=sum(segment.bytes for segment in log.segments),
        segments=len(log.segments),
        last_timestamp=max((segment.max for segment in log.segments), default=None),
    )

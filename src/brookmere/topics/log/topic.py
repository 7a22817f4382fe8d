"""Turns records into a topic's log and the log into records, and tells what a topic holds."""

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
    """What a partition holds: offsets from `start` to before `end`, with gaps where it was compacted."""

    start: int
    end: int
    records: int
    bytes: int
    segments: int
    last_timestamp: int | None


@dataclass(frozen=True, slots=True)
class TopicInfo:
    """What a topic holds."""

    name: str
    id: str
    partitions: list[PartitionInfo]
    config: TopicConfig
    writers: Mapping[str, WriterPosition]

    @property
    def records(self) -> int:
        """How many records the topic holds."""
        return sum(partition.records for partition in self.partitions)

    @property
    def bytes(self) -> int:
        """How many bytes the files of the records have."""
        return sum(partition.bytes for partition in self.partitions)


class Topic:
    """A topic in a directory; `Topics` creates and finds it. Any number of processes may use it at once."""

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
        """What tells this topic from an earlier one of the same name."""
        return self._folder.id

    @property
    def partitions(self) -> int:
        """How many partitions the topic has."""
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
        """Append records, all of them or none, and return their offsets.

        Keys and values are bytes or None. A record goes to the partition it names, else to that of its key,
        by Kafka's rule; records without a key go to the partitions in turn. A timestamp of -1 means now.
        A writer's batch that was appended before is left out.
        """
        parts = (self._router.parts(content, named) for content, named in _held(records))
        return self._append(parts, writer)

    def append_batch(
        self, partition: int | None, data: pa.RecordBatch | pa.Table, *, writer: Writer | None = None
    ) -> Appended:
        """Append columns named timestamp, key, value and headers, all rows or none.

        Only value must be there. `partition=None` lets the keys decide, as `append` does.
        """
        if partition is not None:
            check_partition(self._folder, partition)
        batches = data.to_batches() if isinstance(data, pa.Table) else [data]
        contents = (content_from(batch, now_ms()) for batch in batches)
        if partition is None:
            return self._append(map(self._router.parts, contents), writer)
        return self._append(([(partition, content)] for content in contents), writer)

    def read(self, partition: int, start: int | None = None, end: int | None = None) -> Iterator[Record]:
        """Read the records of a partition that are there now, from offset `start` to before `end`."""
        batches = self.read_batches(partition, start, end)
        return chain.from_iterable(records_of(batch, self.name, partition) for batch in batches)

    def read_batches(
        self, partition: int, start: int | None = None, end: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Read as `read` does, in batches with the columns offset, timestamp, key, value and headers."""
        return read_batches(self._folder, partition, start, end)

    def record(self, partition: int, offset: int) -> Record | None:
        """Return the record at an offset, or None where there is none (any more)."""
        batch = find_record(self._folder, partition, offset)
        return None if batch is None else next(records_of(batch, self.name, partition))

    def start_offsets(self) -> list[int]:
        """Return the first readable offset of each partition."""
        return [log.start for log in self._folder.manifest().partitions]

    def end_offsets(self) -> list[int]:
        """Return the next offset of each partition."""
        return [log.end for log in self._folder.manifest().partitions]

    def offsets_for_time(self, timestamp: int) -> list[int]:
        """Return for each partition the first offset with a timestamp not below this, or its end."""
        logs = enumerate(self._folder.manifest().partitions)
        return [first_offset_at(self._folder, partition, log, timestamp) for partition, log in logs]

    def maintain(self, *, full: bool = False) -> Maintained:
        """Delete what retention no longer keeps, compact, and merge small segments, as far as it is due.

        With `full` everything is compacted and merged that can be.
        """
        return maintain(self._folder, full=full)

    def repair(self, *, execute: bool = False) -> Repair:
        """Look at every file and tell what is damaged; with `execute` take it out, to read the rest.

        Damaged files are kept under segments/damaged.
        """
        return repair(self._folder, execute=execute)

    def check(self, record: Record) -> None:
        """Raise the error that an append of this record, with bytes or None as key and value, would raise."""
        check_record(self._folder, record)

    def describe(self) -> TopicInfo:
        """Tell what the topic holds."""
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
            # The records are there, so the append has not failed; merging waits for better times.
            self._merge_again = time.monotonic() + _MERGE_PAUSE_SECONDS
            _log.warning("%s", error)


def _held(records: Iterable[Record]) -> Iterator[tuple[pa.RecordBatch, list[int | None]]]:
    """Turn records into batches that are not too large to hold, with the partitions that they name."""
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

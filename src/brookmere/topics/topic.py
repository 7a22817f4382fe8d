"""Turns records into a topic's log and the log into records, and tells what a topic holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from brookmere.record import Record
from brookmere.topics.appending import Append, Appended, Writer
from brookmere.topics.columns import content_from, content_of, records_of
from brookmere.topics.files import now_ms
from brookmere.topics.folder import TopicFolder
from brookmere.topics.manifest import PartitionLog, WriterPosition
from brookmere.topics.reading import check_partition, find_record, first_offset_at, read_batches
from brookmere.topics.routing import Router
from brookmere.topics.settings import TopicConfig

_BLOCK_RECORDS = 4096
_HELD_RECORDS = 1_000_000
_HELD_BYTES = 64 * 1024 * 1024


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
        append = Append(self._folder)
        try:
            for content, named in _held(records):
                for partition, part in self._router.parts(content, named):
                    append.write(partition, part)
            return self._commit(append, writer)
        except Exception:
            append.discard()
            raise

    def append_batch(
        self, partition: int | None, data: pa.RecordBatch | pa.Table, *, writer: Writer | None = None
    ) -> Appended:
        """Append columns named timestamp, key, value and headers, all rows or none.

        Only value must be there. `partition=None` lets the keys decide, as `append` does.
        """
        if partition is not None:
            check_partition(self._folder, partition)
        append = Append(self._folder)
        try:
            for batch in data.to_batches() if isinstance(data, pa.Table) else [data]:
                content = content_from(batch, now_ms())
                parts = self._router.parts(content) if partition is None else [(partition, content)]
                for number, part in parts:
                    append.write(number, part)
            return self._commit(append, writer)
        except Exception:
            append.discard()
            raise

    def read(self, partition: int, start: int | None = None, end: int | None = None) -> Iterator[Record]:
        """Read the records of a partition that are there now, from offset `start` to before `end`."""
        for batch in self.read_batches(partition, start, end):
            yield from records_of(batch, self.name, partition)

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

    def offsets_for_time(self, time: int) -> list[int]:
        """Return for each partition the first offset with a timestamp not below `time`, or its end."""
        logs = enumerate(self._folder.manifest().partitions)
        return [first_offset_at(self._folder, partition, log, time) for partition, log in logs]

    def describe(self) -> TopicInfo:
        """Tell what the topic holds."""
        manifest = self._folder.manifest()
        partitions = [_info(log) for log in manifest.partitions]
        return TopicInfo(self.name, self.id, partitions, self.config, manifest.writers)

    def _commit(self, append: Append, writer: Writer | None) -> Appended:
        appended, _ = append.commit(writer)
        return appended


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
            yield pa.concat_batches(held), named
            held, named, size = [], [], 0
    if held:
        yield pa.concat_batches(held), named


def _info(log: PartitionLog) -> PartitionInfo:
    return PartitionInfo(
        start=log.start,
        end=log.end,
        records=sum(segment.rows for segment in log.segments),
        bytes=sum(segment.bytes for segment in log.segments),
        segments=len(log.segments),
        last_timestamp=max((segment.max for segment in log.segments), default=None),
    )

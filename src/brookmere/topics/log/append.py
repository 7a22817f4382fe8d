"""Atomic appends to an embedded topic: all records of one append become visible at once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from brookmere.errors import TopicError
from brookmere.topics.limits import check_content
from brookmere.topics.log.columns import stamped
from brookmere.topics.log.files import explained, sync_folder
from brookmere.topics.log.folder import TopicFolder
from brookmere.topics.log.manifest import Manifest, Segment, WriterPosition
from brookmere.topics.log.segment import MAX_BATCH_BYTES
from brookmere.topics.log.segment_writer import numbered, split, write_segment
from brookmere.topics.times import now_ms

# Maintenance treats files that no manifest names as leftovers of a crash once they are an hour old.
_TOUCH_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Writer:
    """The batch of an application's query that appends. Each batch is appended only once."""

    application: str
    query: str
    batch: int


@dataclass(frozen=True, slots=True)
class Appended:
    """The result of an append: the assigned offsets by partition.

    `duplicate` is true if the writer had already appended this batch: then nothing is written.
    """

    offsets: Mapping[int, range]
    duplicate: bool = False

    @property
    def records(self) -> int:
        """The number of appended records."""
        return sum(map(len, self.offsets.values()))


class Append:
    """An append in progress: its files are invisible until the commit."""

    def __init__(self, folder: TopicFolder) -> None:
        self._folder = folder
        self._segments: list[tuple[int, Segment]] = []
        self._touched = time.monotonic()

    def write(self, partition: int, content: pa.RecordBatch) -> None:
        """Write records of one partition to files."""
        folder = self._folder
        check_content(folder, content)
        now = now_ms()
        if folder.config.stamps:
            content = stamped(content, now)
        what = f"Records cannot be appended to the topic {folder.name!r}"
        with folder.in_use(), explained(what, folder.segments):
            self._keep_young()
            for group in _groups(content, folder.config.segment_bytes):
                segment = write_segment(folder.segments, partition, numbered(group), at=now)
                if segment:
                    self._segments.append((partition, segment))

    def commit(self, writer: Writer | None) -> tuple[Appended, Manifest]:
        """Make the records visible, unless the writer has already appended them."""
        folder = self._folder
        what = f"Records cannot be appended to the topic {folder.name!r}"
        if self._segments:
            with folder.in_use(), explained(what, folder.segments):
                sync_folder(folder.segments)
        duplicate = False
        offsets: dict[int, range] = {}

        def add(manifest: Manifest) -> Manifest | None:
            nonlocal duplicate
            duplicate = writer is not None and has_appended(manifest, writer)
            if duplicate or not (self._segments or writer):
                return None
            logs = list(manifest.partitions)
            for partition, segment in self._segments:
                if not (folder.segments / segment.file).exists():
                    raise _swept(folder, segment)
                start = logs[partition].end
                logs[partition] = logs[partition].appended(segment)
                first = offsets[partition].start if partition in offsets else start
                offsets[partition] = range(first, logs[partition].end)
            writers = dict(manifest.writers)
            if writer:
                writers[writer.application] = WriterPosition(writer.query, writer.batch)
            return replace(manifest, partitions=tuple(logs), writers=writers)

        manifest = folder.change(add)
        if duplicate:
            self.discard()
        self._segments.clear()
        return Appended(offsets, duplicate), manifest

    def discard(self) -> None:
        """Remove the files of an append that was not committed."""
        self._folder.remove(segment.file for _, segment in self._segments)
        self._segments.clear()

    def _keep_young(self) -> None:
        if time.monotonic() - self._touched < _TOUCH_SECONDS:
            return
        self._touched = time.monotonic()
        for _, segment in self._segments:
            os.utime(self._folder.segments / segment.file)


def _groups(content: pa.RecordBatch, most: int) -> Iterator[list[pa.RecordBatch]]:
    """Split records into chunks of the size of a segment."""
    group: list[pa.RecordBatch] = []
    size = 0
    for batch in split(content, min(most, MAX_BATCH_BYTES)):
        if group and size + batch.nbytes > most:
            yield group
            group, size = [], 0
        group.append(batch)
        size += batch.nbytes
    if group:
        yield group


def _swept(folder: TopicFolder, segment: Segment) -> TopicError:
    return TopicError(
        f"Records cannot be appended to the topic {folder.name!r}: {segment.file} was removed before the "
        "commit, because maintenance removes uncommitted files after an hour. Append in smaller chunks."
    )


def has_appended(manifest: Manifest, writer: Writer) -> bool:
    """Return whether the writer's batch is already in the topic."""
    known = manifest.writers.get(writer.application)
    return known is not None and known.query == writer.query and known.batch >= writer.batch

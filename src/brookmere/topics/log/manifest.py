"""The manifest of a topic: the segments of each partition, stored as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Segment:
    """A file with `rows` records of a partition, from offset `base` up to but excluding `end`.

    `min` and `max` are its lowest and highest timestamps, `at` the time of its last append.
    """

    file: str
    base: int
    end: int
    rows: int
    bytes: int
    crc: int
    min: int
    max: int
    at: int

    def moved(self, base: int) -> Segment:
        """Return this segment with its first offset at `base`."""
        return replace(self, base=base, end=base + self.end - self.base)


_SEGMENT_MEMBERS = tuple(member.name for member in fields(Segment))


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """A partition: its first readable offset, its next offset, its segments in order."""

    start: int = 0
    end: int = 0
    segments: tuple[Segment, ...] = ()

    def appended(self, segment: Segment) -> PartitionLog:
        """Return the partition with one more segment at its end."""
        moved = segment.moved(self.end)
        return PartitionLog(self.start, moved.end, (*self.segments, moved))


@dataclass(frozen=True, slots=True)
class WriterPosition:
    """The last batch that an application's query has appended."""

    query: str
    batch: int


@dataclass(frozen=True, slots=True)
class Trash:
    """A file that left the topic at the time `at`; readers may still have it open."""

    file: str
    at: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a topic, at one version."""

    id: str
    partitions: tuple[PartitionLog, ...]
    version: int = 0
    writers: Mapping[str, WriterPosition] = field(default_factory=dict)
    trash: tuple[Trash, ...] = ()

    def with_partition(self, partition: int, log: PartitionLog) -> Manifest:
        """Return the manifest with one partition changed."""
        before, after = self.partitions[:partition], self.partitions[partition + 1 :]
        return replace(self, partitions=(*before, log, *after))

    def files(self) -> set[str]:
        """Return the names of all segment files, including those in the trash."""
        named = {segment.file for log in self.partitions for segment in log.segments}
        return named | {trash.file for trash in self.trash}

    def to_json(self) -> str:
        """Return the manifest as text for manifest.json."""
        content = {
            "format": FORMAT,
            "id": self.id,
            "version": self.version,
            "partitions": [
                {"start": log.start, "end": log.end, "segments": [_members(each) for each in log.segments]}
                for log in self.partitions
            ],
            "writers": {
                name: {"query": each.query, "batch": each.batch} for name, each in self.writers.items()
            },
            "trash": [{"file": each.file, "at": each.at} for each in self.trash],
        }
        return json.dumps(content, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a manifest; raise ValueError if it is not valid."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}, this version reads {FORMAT}")
            manifest = cls(
                id=content["id"],
                partitions=tuple(_log(log) for log in content["partitions"]),
                version=content["version"],
                writers={name: WriterPosition(**each) for name, each in content["writers"].items()},
                trash=tuple([Trash(each["file"], each["at"]) for each in content["trash"]]),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it is incomplete: {error!r}") from error
        return manifest


def _members(segment: Segment) -> dict[str, str | int]:
    return {name: getattr(segment, name) for name in _SEGMENT_MEMBERS}


def _log(content: dict[str, Any]) -> PartitionLog:
    segments = tuple(Segment(**segment) for segment in content["segments"])
    at = 0
    for segment in segments:
        if not at <= segment.base < segment.end <= content["end"]:
            raise ValueError(f"the offsets of {segment.file} do not fit those of the adjacent segments")
        at = segment.end
    return PartitionLog(content["start"], content["end"], segments)

"""Keeps, in the segments of a compacted topic, since when their records are in the log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa

from brookmere.topics.log.manifest import Segment
from brookmere.topics.settings import TopicConfig

COMPACTED_MARK = ".compacted.arrow"
_KEY = b"brookmere.history"
# How exactly times are kept, as a part of the longest time that a setting asks for.
_STEPS = 16


@dataclass(frozen=True, slots=True)
class History:
    """When the records of a segment were appended.

    `appended` are pairs of an offset and a time: the records before the offset, down to that of the pair
    before, were appended at that time or earlier. `deletion` is the offset of the first delete marker that
    compaction has left, and `compacted` tells whether the whole segment was compacted.
    Without a history, each merge with a younger segment would make delete markers young again for ever.
    """

    appended: tuple[tuple[int, int], ...]
    deletion: int | None = None
    compacted: bool = False

    @classmethod
    def of(cls, schema: pa.Schema, segment: Segment) -> History:
        """Read the history of a segment from the schema in its file."""
        note = (schema.metadata or {}).get(_KEY)
        if note is None:
            return cls(((segment.end, segment.at),))
        content = json.loads(note)
        pairs = tuple((offset, at) for offset, at in content["appended"])
        return cls(pairs, content["deletion"], segment.file.endswith(COMPACTED_MARK))

    @classmethod
    def joined(cls, histories: Iterable[History]) -> History:
        """Return the history of neighbouring segments that become one."""
        all_of_them = list(histories)
        return cls(
            tuple(pair for history in all_of_them for pair in history.appended),
            min((each.deletion for each in all_of_them if each.deletion is not None), default=None),
            all(history.compacted for history in all_of_them),
        )

    def noted_in(self, schema: pa.Schema) -> pa.Schema:
        """Return the schema with this history."""
        content = {"appended": self.appended, "deletion": self.deletion}
        return schema.with_metadata({_KEY: json.dumps(content, separators=(",", ":")).encode()})

    def shortened(self, config: TopicConfig, now: int) -> History:
        """Join times that are so near, or so long ago, that they make no difference."""
        longest = max(config.delete_retention_ms, config.min_compaction_lag_ms)
        kept: list[tuple[int, int]] = []
        since = 0
        for offset, at in self.appended:
            if kept and (at <= now - longest or at - since <= longest // _STEPS):
                kept[-1] = (offset, max(kept[-1][1], at))
            else:
                kept.append((offset, at))
                since = at
        return replace(self, appended=tuple(kept))

    def first_after(self, time: int, base: int) -> int | None:
        """Return the first offset that may have been appended after `time`."""
        start = base
        for offset, at in self.appended:
            if at > time:
                return start
            start = offset
        return None

    def time_of(self, offset: int) -> int:
        """Return when the record at an offset was appended, at the latest."""
        return next(at for end, at in self.appended if offset < end)

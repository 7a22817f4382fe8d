"""The append times of records in compacted topics, stored in their segments."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa

from brookmere.topics.log.manifest import Segment
from brookmere.topics.settings import TopicConfig

COMPACTED_MARK = ".compacted.arrow"
_KEY = b"brookmere.history"
# The precision of stored times, as a fraction of the longest duration that a setting needs.
_STEPS = 16


@dataclass(frozen=True, slots=True)
class History:
    """When the records of a segment were appended.

    `appended` has pairs of an offset and a time: the records before the offset, back to the previous pair's,
    were appended at that time or earlier. `deletion` is the offset of the first delete marker that
    compaction kept, and `compacted` says whether the whole segment was compacted.
    Without a history, each merge with a newer segment would make delete markers look new again, forever.
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
        """Return the combined history of adjacent segments."""
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
        """Merge times that are too close, or too long ago, to make a difference."""
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
        """Return the latest time at which the record at an offset can have been appended."""
        return next(at for end, at in self.appended if offset < end)

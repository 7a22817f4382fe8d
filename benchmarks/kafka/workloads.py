"""The records that each program reads, load by load, and the results it must produce.

Record `n` of a program's topic is record `n` modulo the size of its block, and is `n` tenths of a
millisecond after the first. So results are known from the block, and any number of records costs no
memory.
"""

from __future__ import annotations

import struct
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from benchmarks.kafka.kinds import KINDS, WINDOW_MS, Kind
from benchmarks.topics.workloads import Block
from benchmarks.topics.workloads import Workload as TopicWorkload
from benchmarks.topics.workloads import block as topic_block
from brookmere.serde import partition_for

PARTITIONS = 4
START = (int(time.time()) // 3600 - 1) * 3_600_000
"""The timestamp of the first record, in milliseconds: a full hour, an hour or two ago.

Old enough that no record is in the future, which the broker refuses, but not so old that the topics that
Kafka Streams keeps for its windows would be cleaned up.
"""
PER_MS = 10
_SHARES = {"projection": 1.0, "words": 0.1, "keys": 1.0, "join": 1.0, "windows": 1.0}


@dataclass(frozen=True, slots=True)
class Workload:
    """A program, and its number of records per load."""

    kind: Kind
    records: int
    """Records per load."""
    keys: int = 0

    @property
    def name(self) -> str:
        """The name shown to people."""
        names = {
            "projection": "JSON filter and projection",
            "words": "word count",
            "keys": f"count by key, {self.keys:,} keys",
            "join": f"stream-table join, {self.keys:,} rows",
            "windows": f"tumbling count, {self.keys:,} keys",
        }
        return names[self.kind]

    @property
    def block(self) -> Block:
        """The records that are repeated, and the result of each."""
        return _block(self.kind, self.keys)

    @property
    def table(self) -> list[tuple[bytes, bytes]]:
        """The rows of the joined table, if there is one."""
        if self.kind != "join":
            return []
        return [(b"user-%d" % user, b"region-%d" % (user % 50)) for user in range(self.keys)]

    def load(self, number: int) -> Iterator[tuple[bytes | None, bytes, int, int]]:
        """Yield key, value, time and partition of each record of a load; load 0 is the first."""
        block = self.block
        places = _partitions(self.kind, self.keys)
        size = len(block)
        keys, values = block.keys, block.values
        for n in range(number * self.records, (number + 1) * self.records):
            place = n % size
            # Records without a key go to the partitions in turn.
            partition = places[place] if places else n % PARTITIONS
            yield keys[place], values[place], START + n // PER_MS, partition

    def expected(self, loads: int) -> Counter[str]:
        """Return the results after this many loads: last counts, or how often each record is written."""
        if self.kind != "windows":
            return self.block.expected(loads * self.records)
        results = self.block.results
        size = len(self.block)
        found: Counter[str] = Counter()
        for n in range(loads * self.records):
            time_ms = START + n // PER_MS
            found[f"{results[n % size][0]}@{time_ms - time_ms % WINDOW_MS}"] += 1
        return found

    def words(self, loads: int) -> int:
        """Return the number of words in the sentences of this many loads; 0 if there are no sentences."""
        return self.block.expected(loads * self.records).total() if self.kind == "words" else 0


def workloads(records: int, keys: int) -> list[Workload]:
    """Return the workloads of all programs, for this many records of the simpler ones per load."""
    numbers = {"keys": keys, "join": keys, "windows": max(keys // 10, 1)}
    return [Workload(kind, max(int(records * _SHARES[kind]), 1), numbers.get(kind, 0)) for kind in KINDS]


@cache
def _block(kind: Kind, keys: int) -> Block:
    if kind == "projection":
        return topic_block(TopicWorkload("orders", 1))
    if kind == "words":
        return topic_block(TopicWorkload("words", 1))
    if kind == "join":
        return _clicks(keys)
    return topic_block(TopicWorkload("keys", 1, keys))


def _clicks(users: int) -> Block:
    """Return clicks of all users in the key order of a count, each with the region of its user."""
    numbers = [struct.unpack(">q", value)[0] for value in topic_block(TopicWorkload("keys", 1, users)).values]
    keys = [b"user-%d" % user for user in numbers]
    values = [b"page-%d" % (user * 7 % 1000) for user in numbers]
    joined = [
        [f"{key.decode()}:{value.decode()} region-{user % 50}"]
        for key, value, user in zip(keys, values, numbers, strict=True)
    ]
    return Block(list(keys), values, joined)


@cache
def _partitions(kind: Kind, keys: int) -> list[int]:
    found = _block(kind, keys).keys
    return [] if found[0] is None else [partition_for(key, PARTITIONS) for key in found if key is not None]

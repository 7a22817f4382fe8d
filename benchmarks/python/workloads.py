"""The records that each program reads, and a check of what it writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.failures import WrongResultError
from benchmarks.kafka.cluster import Cluster
from benchmarks.kafka.workloads import PARTITIONS, START
from brookmere.serde import partition_for

Program = Literal["map", "count", "windows"]
PROGRAMS: tuple[Program, ...] = ("map", "count", "windows")
WINDOW_MS = 10_000
GRACE_MS = 60_000
_PER_MS = 10
_STRIDE = 7_919
"""Prime, so that every key occurs once in as many records as there are keys."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A program, its number of keys, and its backlog of records. Each record has one result."""

    program: Program
    keys: int
    records: int

    @property
    def name(self) -> str:
        """The name shown to people."""
        names = {"map": "stateless map", "count": "running count", "windows": "tumbling count"}
        return f"{names[self.program]}, {self.keys:,} keys"

    @property
    def source(self) -> str:
        """The topic of the records; programs with equally many keys share it."""
        return f"in-{self.keys}"

    def load(self) -> Iterator[tuple[bytes, bytes, int, int]]:
        """Yield key, value, time and partition of each record."""
        keys = [b"user-%d" % number for number in range(self.keys)]
        places = [partition_for(key, PARTITIONS) for key in keys]
        values = [b"page-%d" % number for number in range(1000)]
        for n in range(self.records):
            at = n * _STRIDE % self.keys
            yield keys[at], values[n % 1000], START + n // _PER_MS, places[at]

    def check(self, cluster: Cluster, topic: str) -> int:
        """Return the number of results.

        Raises:
            WrongResultError: they do not match this many records from the start.
        """
        number = 0
        seen: Counter[bytes] = Counter()
        for message in cluster.messages(topic):
            key, value = message.key(), message.value()
            number += 1
            seen[key] += 1
            right = value.endswith(b"!") if self.program == "map" else 1 <= int(value) <= seen[key]
            if self.program == "count":
                right = int(value) == seen[key]
            if not right:
                raise WrongResultError(f"{topic}: result {seen[key]} of {key.decode()} is {value.decode()}")
        return number

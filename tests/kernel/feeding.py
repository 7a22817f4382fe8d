"""Records with keys, gaps and late times, fed to a program in batches of any size."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Literal

import brookmere as bm
from brookmere.testing import TopologyTestDriver

Piped = list[tuple[str, bm.Record]]
Written = list[tuple[str, str | None, int]]
StoreType = Literal["auto", "memory", "rocksdb"]
Program = Callable[[], bm.StreamsBuilder]

KEYS = [f"k{n}" for n in range(12)]
STORES = [("memory", 1 << 20), ("rocksdb", 1 << 20), ("auto", 2_000)]
"""Kinds of stores, and how much they keep in memory: the last one moves to RocksDB on its way."""


def records_of(seed: int, count: int = 150) -> Piped:
    """Return records for the topics left and right."""
    rnd = random.Random(seed)
    now = 0
    piped: Piped = []
    for _ in range(count):
        now += rnd.choice((0, 1, 4))
        time = max(0, now - rnd.choice((0, 0, 0, 5, 30, 100)))
        value = None if rnd.random() < 0.2 else f"{rnd.choice(KEYS)}:{rnd.randint(1, 3)}"
        piped.append((rnd.choice(("left", "right")), bm.Record(rnd.choice(KEYS), value, time)))
    return piped


def batches(records: Piped, seed: int) -> Iterator[Piped]:
    """Cut records into batches of random sizes."""
    rnd = random.Random(seed)
    at = 0
    while at < len(records):
        size = rnd.randint(1, 40)
        yield records[at : at + size]
        at += size


def written(
    program: Program,
    records: Piped,
    *,
    partitions: int = 1,
    cut: int | None = None,
    restart: bool = False,
    store_type: StoreType = "auto",
    log_bytes: int = 1 << 20,
    emit: Literal["every", "last"] = "every",
) -> Written:
    """Return what a program writes to the topic out."""
    driver = TopologyTestDriver(
        program(), partitions=partitions, store_type=store_type, log_bytes=log_bytes, emit=emit
    )
    with driver:
        for batch in [records] if cut is None else batches(records, cut):
            driver.pipe_records(batch)
            if restart:
                driver.restart()
        read = driver.output_topic("out").read_records_to_list()
        return [(record.key, record.value, record.timestamp) for record in read]


def of_keys(rows: Written, keys: set[str]) -> Written:
    """Return the rows of these keys, with or without a window behind the key."""
    return [row for row in rows if row[0].split("@")[0] in keys]

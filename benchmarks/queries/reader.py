"""Reads random keys of a replica in Python: `reader TOPICS DIRECTORY|memory KEYS READS ROUNDS`, to JSON."""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta
from pathlib import Path

import brookmere as bm
from benchmarks.queries import cores
from benchmarks.queries.data import STORE, random_keys, value_of
from brookmere.state import KeyValueStore, Replica

_PATIENCE = 600.0


def main(topics: str, directory: str, keys: int, reads: int, rounds: int) -> None:
    """Fill the replica, read, and write one line."""
    cores.take(0)
    in_memory = directory == "memory"
    begun = time.perf_counter()
    place = None if in_memory else Path(directory)
    with Replica("bench", [STORE], bm.Topics(Path(topics)), place, in_memory=in_memory) as replica:
        store = replica[STORE.name].wait(timedelta(seconds=_PATIENCE))
        assert isinstance(store, KeyValueStore)
        filled = time.perf_counter() - begun
        wanted = list(random_keys(keys, reads, seed=1))
        found = [_read(store, wanted) for _ in range(rounds)]
        wrong = sum(store.get(key) != value_of(int(key[4:])) for key in wanted[:1000])
    sys.stdout.write(json.dumps({"filled_seconds": filled, "rounds": found, "wrong": wrong}) + "\n")


def _read(store: KeyValueStore, wanted: list[str]) -> dict[str, float]:
    get = store.get
    clock, cpu = time.perf_counter(), time.thread_time()
    for key in wanted:
        get(key)
    return {"seconds": time.perf_counter() - clock, "cpu": time.thread_time() - cpu}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))

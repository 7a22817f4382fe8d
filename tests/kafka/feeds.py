"""Records to feed to programs: out of order, late, without keys and without values."""

from __future__ import annotations

import random

import brookmere as bm

PARTITIONS = 3
START = 1_700_000_000_000
HEADERS = (("trace", b"1"), ("empty", None), ("trace", b"2"))


def keyed(seed: int, number: int, keys: int) -> list[bm.Record]:
    """Return records out of order, some late, some without a key or a value, some with headers."""
    chance = random.Random(seed)
    records = []
    for place in range(number):
        # No two records have the same time, or the order between two topics would be open.
        time = START + 1000 * place - chance.choice([0, 0, 0, 4_000, 9_000, 30_000]) + seed
        key = None if chance.random() < 0.1 else b"key-%d" % chance.randrange(keys)
        value = None if chance.random() < 0.1 else b"value-%d" % place
        partition = chance.randrange(PARTITIONS) if key is None else None
        headers = HEADERS if chance.random() < 0.3 else ()
        records.append(bm.Record(key, value, time, headers, partition=partition))
    return records

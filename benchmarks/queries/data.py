"""The topics for queries: one that acts as the changelog of a store, one that is counted."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import brookmere as bm
from brookmere.state import StoreInfo

PARTITIONS = 2
CHANGELOG = "totals"
SOURCE = "views"
APPLICATION = "queried"
STORE = StoreInfo(CHANGELOG, "key_value", CHANGELOG, bm.Text(), bm.Long())
COUNTS = StoreInfo("counts", "key_value", f"{APPLICATION}-counts-changelog", bm.Text(), bm.Long())
_BLOCK = 100_000


def key_of(number: int) -> str:
    """Return the key with this number."""
    return f"key-{number}"


def value_of(number: int) -> int:
    """Return the value of that key."""
    return 7 * number


def random_keys(keys: int, count: int, seed: int) -> Iterator[str]:
    """Draw keys, the same ones for the same seed."""
    dice = random.Random(seed)
    return (key_of(dice.randrange(keys)) for _ in range(count))


def fill_changelog(directory: Path, keys: int) -> None:
    """Create the topic that acts as the changelog, with one record per key."""
    topic = bm.Topics(directory).create(CHANGELOG, PARTITIONS, {"cleanup.policy": "compact"})
    for at in range(0, keys, _BLOCK):
        numbers = range(at, min(at + _BLOCK, keys))
        written = [bm.Long().serialize(value_of(number)) for number in numbers]
        columns = {
            "key": pa.array([key_of(number).encode() for number in numbers], pa.binary()),
            "value": pa.array(written, pa.binary()),
        }
        topic.append_batch(None, pa.table(columns))


def append_views(directory: Path, records: int, keys: int, seed: int) -> None:
    """Append records to be counted, all at once."""
    drawn = [key.encode() for key in random_keys(keys, records, seed)]
    columns = {"key": pa.array(drawn, pa.binary()), "value": pa.array([b"view"] * records, pa.binary())}
    bm.Topics(directory)[SOURCE].append_batch(None, pa.table(columns))

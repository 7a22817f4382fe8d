"""Embedded topics that play changelogs, and replicas that follow them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import brookmere as bm
from brookmere.state import AnyStore, Replica, StoreInfo

DEADLINE = 20.0


class World:
    """A directory with topics, and replicas of their stores."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.topics = bm.Topics(home / "topics")

    def create(self, topic: str, partitions: int = 2, **config: Any) -> bm.Topic:
        """Create a compacted topic."""
        named = {name.replace("_", "."): value for name, value in config.items()}
        return self.topics.create(topic, partitions, {"cleanup.policy": "compact", **named})

    def put(
        self, topic: str, rows: Mapping[Any, Any], *, timestamp: int = 0, partition: int | None = None,
        key: bm.Serde | None = None, value: bm.Serde | None = None,
    ) -> None:  # fmt: skip
        """Append records; a value of None deletes."""
        keys, values = key or bm.Text(), value or bm.Long()
        self.topics[topic].append(
            bm.Record(keys.serialize(k), values.serialize(v), timestamp, partition=partition)
            for k, v in rows.items()
        )

    def replica(self, *infos: StoreInfo, name: str | None = None, **more: Any) -> Replica:
        """Return a replica in files of that name, or in memory."""
        directory = None if name is None else self.home / name
        return Replica("site", infos, self.topics, directory, in_memory=name is None, **more)

    def level(self, store: AnyStore) -> AnyStore:
        """Wait until a store has everything that is in its topic."""
        ends = self.topics[store.info.topic].end_offsets()
        return store.at_least({store.info.topic: dict(enumerate(ends))}, timedelta(seconds=DEADLINE)).wait(
            timedelta(seconds=DEADLINE)
        )


def totals(topic: str = "totals", **more: Any) -> StoreInfo:
    """Return a store of numbers by text."""
    return StoreInfo("totals", "key_value", topic, bm.Text(), bm.Long(), **more)


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"not within {DEADLINE} s: {what}"
        time.sleep(0.01)

"""A history gives the same results whatever the size of the batches, and the same as it did live.

BROOKMERE_BACKLOG sets how many records each topic has; a million shows it at full size.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serde import partition_for
from tests.run.places import Kept, Place

RECORDS = int(os.environ.get("BROOKMERE_BACKLOG", "6000"))
PARTITIONS = 2
SIZES = [max(RECORDS // 20, 1), max(RECORDS // 3, 1), None]

Row = tuple[str, str, int]


def _slash(left: F.Column, right: F.Column) -> F.Column:
    return F.concat(left, F.lit("/"), F.coalesce(right, F.lit("-")))


def _streams() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    windows = bm.JoinWindows(before="40ms", after="20ms", grace="10ms")
    app.stream("left").left_join(app.stream("right"), _slash, windows=windows).to("out")
    return app


def _stream_and_table() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    app.stream("left").left_join(app.table("right"), _slash).to("out")
    return app


def _history(seed: int) -> dict[str, list[Row]]:
    """Two topics whose times go back now and then, at different paces."""
    rnd = random.Random(seed)
    keys = max(20, RECORDS // 50)
    topics: dict[str, list[Row]] = {}
    for topic, pace in (("left", 2), ("right", 3)):
        now = 0
        rows = []
        for n in range(RECORDS):
            now += rnd.randint(0, pace)
            rows.append((f"k{rnd.randrange(keys)}", f"{topic[0]}{n}", max(0, now - rnd.choice((0, 0, 0, 7)))))
        topics[topic] = rows
    return topics


def _place(directory: Path, spark: SparkSession) -> Place:
    place = Place(directory, spark)
    for topic in ("left", "right", "out"):
        place.topics.create(topic, partitions=PARTITIONS)
    return place


def _written(place: Place) -> list[list[Kept]]:
    return [place.read("out", partition) for partition in range(PARTITIONS)]


def _live(place: Place, program: bm.StreamsBuilder, history: dict[str, list[Row]]) -> list[list[Kept]]:
    """Feed both topics as time goes on, and process each time what has come so far."""
    moments = {topic: _moments(rows) for topic, rows in history.items()}
    last = max(max(times) for times in moments.values())
    done = -1
    for step in range(1, 5):
        until = last * step // 4
        for topic, rows in history.items():
            come = [row for row, at in zip(rows, moments[topic], strict=True) if done < at <= until]
            place.feed(topic, *come)
        place.run(program)
        done = until
    return _written(place)


def _moments(rows: list[Row]) -> list[int]:
    """Return when each record comes: the latest time so far of its partition."""
    latest = [0] * PARTITIONS
    moments = []
    for key, _, time in rows:
        partition = partition_for(key.encode(), PARTITIONS)
        latest[partition] = max(latest[partition], time)
        moments.append(latest[partition])
    return moments


@pytest.mark.parametrize("program", [_streams, _stream_and_table])
def test_join_over_a_history_does_not_depend_on_the_size_of_batches(
    tmp_path: Path, spark: SparkSession, program: Callable[[], bm.StreamsBuilder]
) -> None:
    history = _history(seed=21)
    found = []
    for size in SIZES:
        place = _place(tmp_path / f"size-{size}", spark)
        for topic, rows in history.items():
            place.feed(topic, *rows)
        place.run(program(), **({} if size is None else {"max_batch_records": size}))
        found.append(_written(place))

    live = _live(_place(tmp_path / "live", spark), program(), history)

    assert sum(len(partition) for partition in found[0]) >= RECORDS
    assert found[1] == found[0]
    assert found[2] == found[0]
    assert live == found[0]

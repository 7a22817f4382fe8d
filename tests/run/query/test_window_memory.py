"""Windows that stream time has left behind cost nothing: five million records, a million keys."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import brookmere as bm
from tests.run.places import Place

PARTITIONS = 2
KEYS = 500_000
"""Per partition."""
ROUNDS = 5
"""Each key comes once per round."""
WINDOW = 60_000
WINDOWS = 50
"""In all rounds together."""
MEGABYTE = 1 << 20


def _counts() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    windows = bm.TimeWindows(f"{WINDOW}ms")
    app.stream("in").group_by_key().windowed_by(windows).count(store="counts").to_stream().to("out")
    return app


def _feed(place: Place) -> None:
    step = WINDOW * WINDOWS / (KEYS * ROUNDS)
    for partition in range(PARTITIONS):
        keys = [b"%d" % (PARTITIONS * n + partition) for n in range(KEYS)]
        random.Random(partition).shuffle(keys)
        for number in range(ROUNDS):
            times = [int((number * KEYS + n) * step) for n in range(KEYS)]
            columns = {
                "timestamp": pa.array(times, pa.timestamp("ms", "UTC")),
                "key": pa.array(keys, pa.binary()),
                "value": pa.array([b"x"] * KEYS, pa.binary()),
            }
            place.topics["in"].append_batch(partition, pa.table(columns))


def _log(place: Place, spark: SparkSession) -> dict[int, list[bytes]]:
    """Return the chunks of the store's log, by task."""
    reader = spark.read.format("statestore").option("operatorId", 0).option("stateVarName", "counts-log")
    rows = reader.load(str(place.checkpoint)).selectExpr(
        "key.task AS task", "user_map_key.chunk AS chunk", "user_map_value.v.data AS data"
    )
    chunks: dict[int, list[bytes]] = {}
    for row in rows.where("chunk >= 0").orderBy("chunk").collect():
        chunks.setdefault(row["task"], []).append(bytes(row["data"]))
    return chunks


def _heap(spark: SparkSession) -> int:
    jvm: Any = spark._jvm
    jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    return int(runtime.totalMemory() - runtime.freeMemory())


def test_state_and_heap_stay_small_and_shrink_when_windows_expire(
    tmp_path: Path, spark: SparkSession
) -> None:
    place = Place(tmp_path, spark)
    for topic in ("in", "out"):
        place.topics.create(topic, partitions=PARTITIONS)
    _feed(place)
    before = _heap(spark)
    with place.running(_counts(), emit="last", max_batch_records=250_000) as query:
        query.process_all_available()
        heap = _heap(spark) - before
        program = query.compiled.program
    full = sum(len(chunk) for chunks in _log(place, spark).values() for chunk in chunks)
    later = WINDOW * (WINDOWS + 10)
    for partition in range(PARTITIONS):
        place.feed("in", ("late", "x", later), partition=partition)
    place.run(_counts())
    left = _log(place, spark)

    total = PARTITIONS * KEYS * ROUNDS
    assert sum(place.topics["out"].end_offsets()) == total + PARTITIONS
    # All windows ever counted would be some 80 bytes each, in the log and once more in memory.
    assert full < 80 * total / 4
    assert heap < 80 * total
    assert full > MEGABYTE
    assert {task: _rows(spark, program, chunks) for task, chunks in left.items()} == {0: 1, 1: 1}


def _rows(spark: SparkSession, program: Any, chunks: list[bytes]) -> int:
    jvm: Any = spark._jvm
    kept = jvm.org.apache.spark.sql.brookmere.Assembly.readLog(program, "counts", chunks, 0)
    return len(kept.times())

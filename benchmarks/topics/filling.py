"""Fills topics with the records of a workload."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession

import brookmere as bm
from benchmarks.topics.workloads import Workload, block

PARTITIONS = 2
FORMAT = "brookmere.topics"
_START = 1_700_000_000_000
_LEAST_ROWS = 50_000


def fill(topics: bm.Topics, workload: Workload, batches: int) -> None:
    """Create the topic of a workload with enough records for this many batches.

    Records are in the partition of their key, and without a key in each partition in turn.
    """
    topic = topics.create(workload.topic, partitions=PARTITIONS)
    found = block(workload)
    # Small blocks are repeated first, so that a batch consists of few pieces.
    times = -(-_LEAST_ROWS // len(found))
    repeated = pa.table(
        {
            "key": pa.array(found.keys, pa.binary()).take(_places(len(found), times)),
            "value": pa.array(found.values, pa.binary()).take(_places(len(found), times)),
        }
    )
    for start in range(0, batches * workload.rows, workload.rows):
        rows = _from(repeated, start, workload.rows)
        stamps = pa.array(range(_START + start, _START + start + workload.rows), pa.int64())
        topic.append_batch(None, rows.append_column("timestamp", stamps).combine_chunks())


def open_once(session: SparkSession, topics: bm.Topics, workload: Workload) -> None:
    """Read a topic, so that no case pays for the first reader's check of its files."""
    reader = session.read.format(FORMAT).option("dir", str(topics.directory))
    reader.option("topic", workload.topic).load().write.format("noop").mode("overwrite").save()


def _places(size: int, times: int) -> pa.Array:
    return pa.array(list(range(size)) * times, pa.int32())


def _from(repeated: pa.Table, start: int, rows: int) -> pa.Table:
    pieces = []
    at = start % repeated.num_rows
    while rows > 0:
        pieces.append(repeated.slice(at, rows))
        rows -= pieces[-1].num_rows
        at = 0
    return pa.concat_tables(pieces)

"""The queries you would write with PySpark alone, on the same topics."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.counting import counted
from benchmarks.orders import LEAST_QUANTITY, ORDER
from benchmarks.topics.filling import FORMAT
from benchmarks.topics.workloads import Workload


def start(
    workload: Workload, *, session: SparkSession, topics: Path, out: str, checkpoint: Path, limit: int
) -> StreamingQuery:
    """Start the query; a limit of 0 puts the whole backlog into one batch."""
    reader = session.readStream.format(FORMAT).option("dir", str(topics)).option("topic", workload.topic)
    rows = reader.option("limit", limit).option("cores", session.sparkContext.defaultParallelism).load()
    writer = _results(workload, rows).writeStream.format(FORMAT).outputMode("update")
    writer = writer.option("dir", str(topics)).option("topic", out)
    return writer.option("checkpointLocation", str(checkpoint)).start()


def _results(workload: Workload, rows: DataFrame) -> DataFrame:
    if workload.kind == "orders":
        return _projected(rows)
    return counted(rows, words=workload.kind == "words")


def _projected(rows: DataFrame) -> DataFrame:
    order = F.from_json(F.col("value").cast("string"), ORDER)
    total = (F.col("order.quantity") * F.col("order.price")).alias("total")
    projected = F.struct("order.order", "order.customer", total)
    return (
        rows.select("key", "timestamp", order.alias("order"))
        .where(F.col("order.quantity") >= LEAST_QUANTITY)
        .select("key", "timestamp", F.to_json(projected).alias("value"))
    )

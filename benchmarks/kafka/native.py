"""Runs the query you would write with PySpark alone until its standard input ends: `native PROGRAM SETTINGS`.

It reads and writes with Spark's own Kafka connector, whose sink writes at least once. State is kept in
RocksDB with its changelog, like Brookmere's; everything else is Spark's default.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.counting import counted
from benchmarks.kafka.kinds import GRACE_MS, WINDOW_MS
from benchmarks.orders import LEAST_QUANTITY, ORDER

_STATE = "spark.sql.streaming.stateStore"


def main() -> int:
    """Run it, and report progress on standard output."""
    kind, given = sys.argv[1], json.loads(sys.argv[2])
    session = _session(given)
    session.streams.addListener(_Teller())
    query = _results(kind, session, given).writeStream.format("kafka").outputMode("update")
    query = query.option("kafka.bootstrap.servers", given["servers"]).option("topic", given["out"])
    running = query.option("checkpointLocation", given["checkpoint"]).start()
    _tell("running")
    threading.Thread(target=_stop_in_the_end, args=(running,), daemon=True).start()
    # Raises the error that made the query fail.
    running.awaitTermination()
    session.stop()
    return 0


def _stop_in_the_end(query: StreamingQuery) -> None:
    sys.stdin.read()
    query.stop()


class _Teller(StreamingQueryListener):
    def __init__(self) -> None:
        self._total = 0

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        self._total += event.progress.numInputRows
        _tell(f"processed {self._total} {time.time_ns() // 1_000_000}")

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        pass


def _session(given: dict[str, Any]) -> SparkSession:
    builder: Any = SparkSession.builder
    settings = {
        "spark.master": "local[2]",
        "spark.app.name": "native",
        "spark.driver.memory": given["memory"],
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.jars": ",".join(given["jars"]),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        # A paused process must not consider itself lost.
        "spark.network.timeout": "3600s",
        f"{_STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    return session


def _results(kind: str, session: SparkSession, given: dict[str, Any]) -> DataFrame:
    reader = session.readStream.format("kafka").option("kafka.bootstrap.servers", given["servers"])
    reader = reader.option("subscribe", given["in"]).option("startingOffsets", "earliest")
    rows = reader.option("kafka.isolation.level", "read_committed").load()
    if kind == "projection":
        return _projected(rows)
    if kind == "join":
        return _joined(rows, session, given)
    if kind == "windows":
        return _windowed(rows)
    return counted(rows, words=kind == "words")


def _projected(rows: DataFrame) -> DataFrame:
    order = F.from_json(F.col("value").cast("string"), ORDER)
    total = (F.col("order.quantity") * F.col("order.price")).alias("total")
    projected = F.struct("order.order", "order.customer", total)
    return (
        rows.select("key", order.alias("order"))
        .where(F.col("order.quantity") >= LEAST_QUANTITY)
        .select("key", F.to_json(projected).alias("value"))
    )


def _joined(rows: DataFrame, session: SparkSession, given: dict[str, Any]) -> DataFrame:
    """Join the rows that the table's topic has at the start: Spark alone has no changing table."""
    table = session.read.format("kafka").option("kafka.bootstrap.servers", given["servers"])
    users = table.option("subscribe", given["table"]).load()
    latest = users.groupBy("key").agg(F.max_by("value", F.struct("partition", "offset")).alias("region"))
    # Otherwise each batch would read the topic again.
    latest = latest.cache()
    value = F.concat_ws(" ", F.col("value").cast("string"), F.col("region").cast("string"))
    return rows.join(latest, "key").select("key", value.alias("value"))


def _windowed(rows: DataFrame) -> DataFrame:
    window = F.window("timestamp", f"{WINDOW_MS} milliseconds")
    counts = rows.withWatermark("timestamp", f"{GRACE_MS} milliseconds")
    counts = (
        counts.select("timestamp", F.col("key").cast("string").alias("key")).groupBy("key", window).count()
    )
    start = F.unix_millis(F.col("window.start")).cast("string")
    return counts.select(
        F.concat_ws("@", "key", start).alias("key"), F.col("count").cast("string").alias("value")
    )


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

"""The kernel's benchmark cases, and the queries that run them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

import brookmere as bm
from benchmarks.kernel.data import PARTITIONS, TOPIC, Feed
from benchmarks.measure import Running, Sink
from brookmere.run import Query, start_query
from brookmere.topology.nodes import SinkNode

Shape = Literal["source", "stage 0", "pass", "count", "chain"]
Emit = Literal["every", "last"]
StoreKind = Literal["memory", "rocksdb"]

MODULUS = 1000
"""The chain counts by key, and then counts the counts by their remainder."""

WRITTEN = ("topic", "key", "value", "timestamp", "headers")


@dataclass(frozen=True, slots=True)
class Case:
    """A query to measure. Without a store kind it is Spark's own."""

    shape: Shape
    store: StoreKind | None = None
    emit: Emit = "last"
    direct: bool = False
    """Writes directly to Spark's noop sink instead of through foreachBatch."""

    @property
    def name(self) -> str:
        """The name shown to people."""
        if self.shape == "source":
            return "source only"
        if self.shape == "stage 0":
            return "source -> sink, no exchange"
        if self.shape == "pass":
            return "source -> repartition -> sink"
        if self.store is None:
            return f"Spark groupBy().count(){', noop sink' if self.direct else ''}"
        return f"Brookmere {self.shape}, {self.emit}, {self.store}"


NATIVE = Case("count")
NATIVE_DIRECT = Case("count", direct=True)
SOURCE = Case("source")
STAGE_0 = Case("stage 0", "memory", "every")
PASS = Case("pass", "memory", "every")


def topology(case: Case) -> bm.Topology:
    """Return the topology of one of Brookmere's cases."""
    app = bm.StreamsBuilder("bench", key=bm.Text(), value=bm.Bytes())
    records = app.stream(TOPIC)
    if case.shape == "stage 0":
        records.to("out")
        return app.build()
    if case.shape == "pass":
        records.repartition().to("out")
        return app.build()
    kind = case.store or "auto"
    # The topic is not partitioned by key, so the group is re-keyed: it counts per key, as Spark does.
    counts = records.group_by(lambda key, _: key).count(store="counts", store_type=kind)
    if case.shape == "chain":
        by_count = counts.to_stream().group_by(lambda _, count: count % MODULUS)
        counts = by_count.count(store="counts-of-counts", store_type=kind)
    counts.to_stream().to("out")
    return app.build()


def start(case: Case, feed: Feed, sink: Sink, *, session: SparkSession, checkpoint: Path) -> Running:
    """Start the query of a case; the sink receives text and counts from Spark, and bytes from Brookmere."""
    rows = feed.stream(session)
    if case.store is None:
        return _start_native(case, rows, sink, checkpoint)
    query = start_query(
        topology(case),
        {TOPIC: rows.drop("text")},
        lambda written, batch: sink(written.select(*WRITTEN), batch),
        session=session,
        checkpoint=checkpoint,
        partitions={TOPIC: PARTITIONS},
        emit=case.emit,
    )
    return running(query)


def running(query: Query) -> Running:
    """Return what the benchmark needs to know about one of Brookmere's queries."""
    assembly: Any = query.assembly
    stages = range(1, len(query.compiled.plan.stages))
    nodes = query.compiled.plan.topology.nodes
    sinks = [node.name for node in nodes if isinstance(node, SinkNode) and not node.internal]
    return Running(
        query.handle,
        query.stop,
        stage_times=lambda: [list(assembly.stageTimes(n)) for n in stages],
        written=lambda: sum(query.counters()[name]["received"] for name in sinks),
    )


def _start_native(case: Case, rows: DataFrame, sink: Sink, checkpoint: Path) -> Running:
    rows = rows.groupBy("text").count() if case.shape == "count" else rows.drop("text")
    writer = rows.writeStream.outputMode("update").option("checkpointLocation", str(checkpoint))
    handle = (writer.format("noop") if case.direct else writer.foreachBatch(sink)).start()
    return Running(handle, handle.stop, list)

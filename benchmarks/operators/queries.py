"""Starts the query of a case."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.kernel import cases as kernel
from benchmarks.kernel.data import PARTITIONS, TOPIC
from benchmarks.measure import Running, Sink
from benchmarks.operators import native
from benchmarks.operators.cases import Case
from benchmarks.operators.data import LEFT, Feed
from benchmarks.operators.topologies import topology
from brookmere.run import start_query


def start(case: Case, feed: Feed, sink: Sink, *, session: SparkSession, checkpoint: Path) -> Running:
    """Start the query of a case; the sink receives columns from Spark, and bytes from Brookmere."""
    if case.store is None:
        rows = native.query(feed, session)
        writer = rows.writeStream.outputMode(native.MODES.get(case.shape, "append"))
        handle = writer.option("checkpointLocation", str(checkpoint)).foreachBatch(sink).start()
        return Running(handle, handle.stop, list)
    in_kernel = case.in_kernel
    streams = feed.streams(session)
    if in_kernel is not None:
        streams = {TOPIC: streams[LEFT]}
    query = start_query(
        topology(case, feed) if in_kernel is None else kernel.topology(in_kernel),
        {topic: rows.drop("text") for topic, rows in streams.items()},
        lambda written, batch: sink(written.select(*kernel.WRITTEN), batch),
        session=session,
        checkpoint=checkpoint,
        partitions=dict.fromkeys(streams, PARTITIONS),
        emit="every",
    )
    return kernel.running(query)

"""Measures the cost of reading a record of Kafka up to the kernel's rows: Brookmere's source and Spark's.

`python -m benchmarks.kafka.reading [--records N] [--rounds N]`. Both run in one session, in turns, and their
rows are discarded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from benchmarks import machine
from benchmarks.kafka.cluster import Cluster, Gate
from benchmarks.kafka.processes import cpu_seconds
from benchmarks.kafka.workloads import PARTITIONS, workloads
from benchmarks.tables import Table, pairs
from brookmere.broker import Broker
from brookmere.config import read
from brookmere.jars import resolve
from brookmere.kernel.build import kafka_jar, kernel_jar
from brookmere.plan.stages import plan
from brookmere.run import spark_session
from brookmere.run.query.checkpoints import begun
from brookmere.run.query.query import read_topics
from brookmere.run.query.transports import OnKafka

TOPIC = "records"
_CORES = 2


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kafka.reading", description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, Broker(Path(home) / "kafka", heap="1g", tied=True) as broker:
        _fill(broker.bootstrap_servers, options.records)
        session = _session()
        facts = machine.facts(session)
        sources: dict[str, Callable[[], DataFrame]] = {
            "Brookmere": lambda: _own(session, broker.bootstrap_servers),
            "Spark": lambda: _native(session, broker.bootstrap_servers),
        }
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in sources}
        for number in range(options.rounds):
            for name, source in sources.items():
                found[name].append(_drain(session, source()))
                seconds, cpu = found[name][-1]
                sys.stderr.write(f"round {number + 1}  {name}: {seconds:.2f} s, {cpu:.2f} CPU s\n")
        session.stop()
    sys.stdout.write(f"{pairs('Machine', facts).text()}\n\n{_table(found, options.records).text()}\n")
    return 0


def _fill(servers: str, records: int) -> None:
    cluster = Cluster.at(servers)
    cluster.create(TOPIC)
    (workload,) = (one for one in workloads(records, 100_000) if one.kind == "keys")
    gate = Gate(cluster, TOPIC)
    gate.fill(workload.load(0))
    gate.show()


def _session() -> SparkSession:
    clients = resolve("kafka-clients")
    # Both sources use the same client.
    connector = [jar for jar in resolve("spark-kafka") if not jar.name.startswith("kafka-clients")]
    jars = [kernel_jar(), kafka_jar(clients), *clients, *connector]
    settings = {"spark.jars": ",".join(map(str, jars))}
    return spark_session(master=f"local[{_CORES}]", memory="3g", kafka=True, settings=settings)


def _own(session: SparkSession, servers: str) -> DataFrame:
    app = bm.StreamsBuilder("reading", key=bm.Bytes(), value=bm.Bytes())
    app.stream(TOPIC).to("nowhere")
    topics = OnKafka(read({"bootstrap.servers": servers, "processing.guarantee": "at_least_once"}))
    name = f"reading-{time.time_ns()}"
    planned = plan(app.build(), {TOPIC: PARTITIONS})
    topics.open(session._jvm, name, "reading", planned, _CORES, begun(Path("none")), ())
    return read_topics(session, topics, [TOPIC], application=name, layout="raw", cores=_CORES)


def _native(session: SparkSession, servers: str) -> DataFrame:
    reader = session.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
    reader = reader.option("subscribe", TOPIC).option("startingOffsets", "earliest")
    records = reader.option("includeHeaders", "true").option("kafka.isolation.level", "read_committed").load()
    ts = F.unix_millis("timestamp").alias("ts")
    clock = F.lit(None).cast("bigint").alias("clock")
    return records.select(
        F.lit(0).alias("topic"), "partition", "offset", ts, "key", "value", "headers", clock
    )


def _drain(session: SparkSession, rows: DataFrame) -> tuple[float, float]:
    """Return the elapsed and CPU seconds that one batch of everything takes."""
    jvm: Any = session._jvm
    java = int(jvm.java.lang.ProcessHandle.current().pid())
    began, before = time.monotonic(), cpu_seconds(java)
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = rows.writeStream.format("noop").option("checkpointLocation", checkpoint)
        writer.trigger(availableNow=True).start().awaitTermination()
    return time.monotonic() - began, cpu_seconds(java) - before


def _table(found: dict[str, list[tuple[float, float]]], records: int) -> Table:
    rows = []
    for name, runs in found.items():
        seconds, cpu = min(s for s, _ in runs), min(c for _, c in runs)
        rows.append((name, f"{records / seconds:,.0f}", f"{cpu / records * 1e6:.2f}"))
    head = ("source", "records/s", "CPU us/record")
    return Table(f"Reading {records:,} records of {PARTITIONS} partitions", head, rows, "Best of all rounds.")


if __name__ == "__main__":
    sys.exit(main())

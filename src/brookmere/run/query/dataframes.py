"""Queries over the user's own streaming DataFrames: their input and output rows, and how they start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import TimestampType

from brookmere.config import check_choice
from brookmere.errors import Fault, RecordError, TopologyError, UnsupportedError
from brookmere.names import nearest
from brookmere.plan.stages import plan
from brookmere.run.compile.compiler import (
    DEFAULT_CACHE_BYTES,
    DEFAULT_LOG_BYTES,
    HANDLERS,
    Compiled,
    compile_plan,
)
from brookmere.run.jvm import to_java
from brookmere.run.query.query import Query, SparkOptions
from brookmere.run.query.taps import show_taps
from brookmere.topology.nodes import StoreType, Topology

Sink = Callable[[DataFrame, int], None]
"""Receives the rows of a batch and the batch's number. It must read the rows exactly once."""

OUTPUT = (
    "kind", "topic", "key", "value", "timestamp", "headers", "failure", "node", "task",
    "clock", "source", "seq", "due", "step",
)  # fmt: skip
_REQUIRED = ("key", "value", "partition", "offset", "timestamp")


def start_query(
    topology: Topology,
    sources: Mapping[str, DataFrame],
    sink: Sink,
    *,
    session: SparkSession,
    checkpoint: str | Path,
    partitions: Mapping[str, int],
    spark_partitions: int | None = None,
    emit: Literal["every", "last"] = "last",
    on_error: Literal["fail", "continue"] = "fail",
    store_type: StoreType = "auto",
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    log_bytes: int = DEFAULT_LOG_BYTES,
    name: str | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> Query:
    """Start the query of `topology`, from one streaming DataFrame per topic to `sink`.

    A DataFrame has the columns key and value (binary), partition, offset and timestamp (milliseconds or a
    timestamp), and may have headers as Spark's Kafka source returns them. All rows of a topic's partition
    must arrive in one Spark partition, ordered by offset. `partitions` is the number of partitions of each
    topic. The sink receives rows with the columns of `OUTPUT`.

    Raises:
        ConfigError: a setting has an unknown value.
        TopologyError: topics are missing, partition counts do not match, or lambdas cannot be compiled.
        UnsupportedError: the program depends on the wall clock, which DataFrames do not provide.
    """
    check_choice("emit", emit, ("every", "last"))
    check_choice("on_error", on_error, ("fail", "continue"))
    check_choice("store_type", store_type, get_args(StoreType))
    compiled = compile_plan(
        plan(topology, partitions),
        session,
        continue_on=HANDLERS if on_error == "continue" else (),
        last_per_batch=emit == "last",
        cache_bytes=cache_bytes,
        log_bytes=log_bytes,
        store_type=store_type,
    )
    if compiled.program.needsWall():
        raise UnsupportedError(
            "The program depends on the wall clock, which DataFrames do not provide. "
            "Found: wall_clock timestamps or close_idle_after. Run it as an application, or do without."
        )
    return Query.start(
        compiled,
        _FrameConnection(raw_rows(compiled, sources), sink, compiled),
        session=session,
        options=SparkOptions(checkpoint, name, spark_partitions, trigger),
    )


@dataclass(frozen=True, slots=True)
class BatchConnection:
    """A streaming DataFrame of raw rows, and a function that receives the kernel's rows of every batch."""

    raw: DataFrame
    sink: Sink
    name: None = field(default=None, init=False)
    raised: list[Exception] = field(default_factory=list, init=False)

    def read(self) -> DataFrame:
        return self.raw

    def write(self, rows: DataFrame, assembly: Any) -> DataStreamWriter:  # noqa: ARG002
        return rows.writeStream.foreachBatch(self._receive)

    def _receive(self, rows: DataFrame, batch: int) -> None:
        try:
            self._pass_on(rows, batch)
        except Exception as error:
            self.raised.append(error)
            raise

    def _pass_on(self, rows: DataFrame, batch: int) -> None:
        self.sink(rows, batch)

    def hold(self) -> None:
        pass

    def take_failures(self) -> list[RecordError]:
        return []

    def take_notices(self) -> list[str]:
        return []

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _FrameConnection(BatchConnection):
    """The same, with the rows of `OUTPUT` for the user's sink."""

    compiled: Compiled

    def write(self, rows: DataFrame, assembly: Any) -> DataStreamWriter:
        return output_rows(self.compiled, assembly, rows).writeStream.foreachBatch(self._receive)

    def _pass_on(self, rows: DataFrame, batch: int) -> None:
        if not self.compiled.taps:
            self.sink(rows, batch)
            return
        rows = rows.persist()
        show_taps(self.compiled, rows)
        self.sink(rows, batch)
        rows.unpersist()


def raw_rows(compiled: Compiled, sources: Mapping[str, DataFrame]) -> DataFrame:
    """Return the rows that stage 0 reads, of all topics."""
    faults: list[Fault] = []
    for topic in compiled.plan.topics:
        if topic not in sources:
            close = nearest(topic, sources)
            hint = f"Did you mean {close!r}?" if close else "Give a streaming DataFrame for it"
            faults.append(Fault(f"There is no DataFrame for the topic {topic!r}", None, hint))
        else:
            faults += _frame_faults(topic, sources[topic])
    if faults:
        raise TopologyError(faults)
    frames = [_raw(sources[topic], number) for number, topic in enumerate(compiled.plan.topics)]
    raw = frames[0]
    for frame in frames[1:]:
        raw = raw.unionAll(frame)
    return raw


def output_rows(compiled: Compiled, assembly: Any, rows: DataFrame) -> DataFrame:
    """Return a batch as rows with the columns of `OUTPUT`.

    `kind` is record, error or tap. (clock, source, seq, due, step) is the order of arrival; `failure`
    describes an error. `node` and `task` are the numbers of the node and the task that wrote the row.
    """
    # The caller chooses partitions, so what decides them in topics is left out.
    to = replace(compiled.destinations, windows={}, changelogs=frozenset())
    session = rows.sparkSession
    return DataFrame(assembly.outputs(rows._jdf, to_java(session._jvm, to)), session)


def _frame_faults(topic: str, frame: DataFrame) -> list[Fault]:
    faults = []
    missing = [column for column in _REQUIRED if column not in frame.columns]
    if missing:
        what = f"The DataFrame of {topic!r} has no column {', '.join(missing)}"
        faults.append(Fault(what, None, "Add it"))
    if not frame.isStreaming:
        what = f"The DataFrame of {topic!r} is not a stream"
        faults.append(Fault(what, None, "Read it with spark.readStream"))
    return faults


def _raw(frame: DataFrame, number: int) -> DataFrame:
    time = F.col("timestamp")
    if isinstance(frame.schema["timestamp"].dataType, TimestampType):
        time = F.unix_millis(time)
    header_type = "array<struct<key:string,value:binary>>"
    return frame.select(
        F.lit(number).alias("topic"),
        F.col("partition").cast("int").alias("partition"),
        F.col("offset").cast("bigint").alias("offset"),
        time.cast("bigint").alias("ts"),
        F.col("key").cast("binary").alias("key"),
        F.col("value").cast("binary").alias("value"),
        _optional(frame, "headers", header_type),
        _optional(frame, "clock", "bigint"),
    )


def _optional(frame: DataFrame, name: str, data_type: str) -> Column:
    found = F.col(name) if name in frame.columns else F.lit(None)
    return found.cast(data_type).alias(name)

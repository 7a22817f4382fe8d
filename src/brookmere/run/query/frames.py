"""Turns streaming DataFrames into the kernel's rows, and the kernel's rows into DataFrames for a sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from brookmere.errors import Fault, TopologyError
from brookmere.names import nearest
from brookmere.run.compile.compiler import Compiled
from brookmere.run.jvm import to_java

OUTPUT = (
    "kind", "topic", "key", "value", "timestamp", "headers", "failure", "node", "task",
    "clock", "source", "seq", "due", "step",
)  # fmt: skip
_REQUIRED = ("key", "value", "partition", "offset", "timestamp")


def raw_rows(compiled: Compiled, sources: Mapping[str, DataFrame]) -> DataFrame:
    """Return the rows that stage 0 reads, of all topics."""
    faults: list[Fault] = []
    for topic in compiled.plan.topics:
        if topic not in sources:
            close = nearest(topic, sources)
            hint = f"Did you mean {close!r}?" if close else "Give a streaming DataFrame for it"
            faults.append(Fault(f"There are no records for the topic {topic!r}", None, hint))
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
    describes what went wrong in an error. `node` is the number of the node that wrote the row, `task` that
    of its task.
    """
    # The caller chooses the partitions, so what decides them in topics is left out.
    to = replace(compiled.destinations, windows={}, changelogs=frozenset())
    session = rows.sparkSession
    return DataFrame(assembly.outputs(rows._jdf, to_java(session._jvm, to)), session)


def _frame_faults(topic: str, frame: DataFrame) -> list[Fault]:
    faults = []
    missing = [column for column in _REQUIRED if column not in frame.columns]
    if missing:
        what = f"The DataFrame of {topic!r} has no column {', '.join(missing)}"
        faults.append(Fault(what, None, "Add what is missing"))
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

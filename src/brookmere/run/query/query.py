"""Turns a compiled program, streams of records and a sink into a running Spark query."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from brookmere.config import check_choice
from brookmere.errors import BrookmereError, RecordError, UnsupportedError
from brookmere.plan.stages import plan
from brookmere.run.compile.compiler import (
    DEFAULT_CACHE_BYTES,
    DEFAULT_LOG_BYTES,
    HANDLERS,
    Compiled,
    compile_plan,
)
from brookmere.run.query.checkpoints import checkpointed_partitions
from brookmere.run.query.failures import from_java, from_python
from brookmere.run.query.frames import output_rows, raw_rows
from brookmere.run.query.outputs import read_outputs
from brookmere.run.query.taps import show_taps
from brookmere.run.query.worker_environment import worker_env
from brookmere.topology.nodes import StoreType, Topology

Sink = Callable[[DataFrame, int], None]
"""Receives the rows of a batch and the batch's number. It must read the rows exactly once."""

COUNTERS = ("received", "forwarded", "dropped", "failed", "late")
_NO_TIME = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Query:
    """A running query of a topology."""

    handle: StreamingQuery
    compiled: Compiled
    assembly: Any
    raised: list[Exception]
    """What the writing of a batch raised. Spark hands on only its text."""
    known_as: str | None = None
    """The name under which the source and the sink of topics know the query."""
    session: SparkSession | None = None
    on_forget: Callable[[], None] | None = None
    """Gives back what the source and the sink have open."""
    notices: Callable[[], list[str]] | None = None
    """Returns what the source and the sink have to say in the log."""

    def process_all_available(self) -> None:
        """Wait until all data that is there has gone through.

        Raises:
            RecordError: a record failed, and its handler does not continue.
            EngineError: the query failed for another reason.
        """
        try:
            self.handle.processAllAvailable()
        except StreamingQueryException as error:
            failed = self.failure()
            if failed is None:
                raise
            # The record's failure says all; behind another one the cause may help.
            cause = self.raised[-1] if self.raised else error
            raise failed from (None if isinstance(failed, RecordError) else cause)

    def failure(self) -> BrookmereError | None:
        """Return why the query failed, or None."""
        if self.raised:
            return from_python(self.raised[-1])
        found: Any = self.handle._jsq.exception()
        return from_java(found.get()) if found.isDefined() else None

    def counters(self) -> dict[str, dict[str, int]]:
        """Return how many records each node received, forwarded, dropped and failed on since the start.

        Those that came too late are among the dropped ones.
        """
        return read_counters(self.compiled, self._numbers(self.assembly.counts()))

    def stream_times(self) -> dict[str, int]:
        """Return the latest time of the records of each topic since the start, where there was one."""
        found = zip(self.compiled.plan.topics, self._numbers(self.assembly.latestTimes()), strict=True)
        return {topic: time for topic, time in found if time != _NO_TIME}

    def _numbers(self, array: Any) -> list[int]:
        session: Any = self.session
        # As text, because every element of an array costs a call of its own.
        text = str(session._jvm.java.util.Arrays.toString(array)).strip("[]")
        return [int(number) for number in text.split(", ")] if text else []

    def _topics(self) -> Any:
        session: Any = self.session
        return session._jvm.brookmere.kernel.transport

    def take_failures(self) -> list[RecordError]:
        """Return the records that failed and were skipped since the last call."""
        if self.known_as is None:
            return []
        data = bytes(self._topics().Sinks.takeFailures(self.known_as))
        return [found for found in read_outputs(data) if isinstance(found, RecordError)]

    def take_notices(self) -> list[str]:
        """Return what should be told in the log since the last call."""
        return [] if self.notices is None else self.notices()

    def stop(self, timeout: float = 60.0) -> None:
        """Stop the query; its checkpoint stays.

        From topics it takes no more records, and the batch at hand is finished first; after
        `timeout` seconds it is given up, to be done again at the next start.
        """
        self.finish(timeout)
        self.forget()

    def finish(self, timeout: float) -> None:
        """Stop the query as `stop` does, but keep what can be asked about it."""
        if self.known_as is not None:
            self._topics().Holds.hold(self.known_as)
            deadline = time.monotonic() + timeout
            while (
                self.handle.isActive and self.handle.status["isTriggerActive"] and time.monotonic() < deadline
            ):
                time.sleep(0.01)
        self.handle.stop()

    def forget(self) -> None:
        """Free what the JVM holds of a query that has ended."""
        self.assembly.forget(str(self.handle.runId))
        if self.known_as is not None:
            self._topics().Sinks.forget(self.known_as)
        if self.on_forget is not None:
            self.on_forget()


def assemble(
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
    timestamp), and may have headers as Spark's Kafka source gives them. All rows of a partition of a topic
    must come in one Spark partition, in order of their offsets. `partitions` counts the partitions of each
    topic. The sink receives rows with the columns of `frames.OUTPUT`.

    Raises:
        ConfigError: a setting has a value that there is not.
        TopologyError: topics are missing, counts do not fit, or lambdas cannot be compiled.
        UnsupportedError: the program has to know the wall clock, which no DataFrame tells it.
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
            "The program has to know the wall clock, and DataFrames do not tell it. "
            "Found wall_clock timestamps or close_idle_after. Run it as an application, or do without."
        )
    raw = raw_rows(compiled, sources)

    def write(rows: DataFrame, batch: int) -> None:
        if compiled.taps:
            rows = rows.persist()
            show_taps(compiled, rows)
        sink(rows, batch)
        if compiled.taps:
            rows.unpersist()

    return start(
        compiled, raw, write, session=session, checkpoint=checkpoint, spark_partitions=spark_partitions,
        name=name, trigger=trigger, as_output=True,
    )  # fmt: skip


def start(
    compiled: Compiled,
    raw: DataFrame,
    write: Sink,
    *,
    session: SparkSession,
    checkpoint: str | Path,
    spark_partitions: int | None = None,
    name: str | None = None,
    trigger: Mapping[str, Any] | None = None,
    as_output: bool = False,
) -> Query:
    """Start a query from raw rows to a sink of the kernel's own rows, or of rows as in `frames.OUTPUT`."""
    raised: list[Exception] = []

    def remembering(batch_rows: DataFrame, batch: int) -> None:
        try:
            write(batch_rows, batch)
        except Exception as error:
            raised.append(error)
            raise

    def writer(rows: DataFrame, assembly: Any) -> DataStreamWriter:
        shown = output_rows(compiled, assembly, rows) if as_output else rows
        return shown.writeStream.foreachBatch(remembering)

    return started(
        compiled, raw, writer, session=session, checkpoint=checkpoint, spark_partitions=spark_partitions,
        name=name, trigger=trigger, raised=raised,
    )  # fmt: skip


def started(
    compiled: Compiled,
    raw: DataFrame,
    write: Callable[[DataFrame, Any], DataStreamWriter],
    *,
    session: SparkSession,
    checkpoint: str | Path,
    spark_partitions: int | None = None,
    name: str | None = None,
    trigger: Mapping[str, Any] | None = None,
    raised: list[Exception] | None = None,
    known_as: str | None = None,
    takeover: str | None = None,
    forget: Callable[[], None] | None = None,
    notices: Callable[[], list[str]] | None = None,
) -> Query:
    """Start a query whose writer `write` makes of the kernel's rows and the assembly.

    `takeover` describes the state of another version of the program with which the first batch begins.
    """
    count = checkpointed_partitions(checkpoint) or spark_partitions or shuffle_partitions(session)
    jvm: Any = session._jvm
    assembly = jvm.org.apache.spark.sql.brookmere.Assembly(session._jsparkSession, compiled.program, count)
    if compiled.python:
        assembly.runPython(worker_env(session))
    if takeover is not None:
        assembly.takeOver(takeover)
    rows = DataFrame(assembly.rows(raw._jdf), session)
    before = session.conf.get("spark.sql.shuffle.partitions")
    session.conf.set("spark.sql.shuffle.partitions", str(count))
    try:
        writer = write(rows, assembly).outputMode("update").option("checkpointLocation", str(checkpoint))
        if name is not None:
            writer = writer.queryName(name)
        if trigger is not None:
            writer = writer.trigger(**trigger)
        return Query(
            writer.start(), compiled, assembly, [] if raised is None else raised, known_as, session, forget,
            notices,
        )  # fmt: skip
    finally:
        session.conf.set("spark.sql.shuffle.partitions", before or "2")


def read_counters(compiled: Compiled, sums: Any) -> dict[str, dict[str, int]]:
    """Return the kernel's counts by name of the node."""
    flat = list(sums)
    width = len(COUNTERS)
    return {
        name: dict(zip(COUNTERS, flat[number * width : (number + 1) * width], strict=True))
        for name, number in compiled.numbers.items()
    }


def shuffle_partitions(session: SparkSession) -> int:
    """Return how many partitions a shuffle of this session has."""
    return int(session.conf.get("spark.sql.shuffle.partitions") or "2")

"""The Spark query of a program: how it starts, what it reports, and how it stops.

An application starts its query with `TopicsQuery.start`; `dataframes.start_query` starts one over DataFrames.
Both end in `Query.start`, the only place that starts a query of Spark.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from brookmere.errors import BrookmereError, RecordError
from brookmere.run.compile.compiler import Compiled
from brookmere.run.compile.time import wall_options
from brookmere.run.jvm import to_java
from brookmere.run.query.checkpoints import begun, checkpointed_partitions
from brookmere.run.query.failures import from_java, from_python
from brookmere.run.query.outputs import read_outputs
from brookmere.run.query.taps import listen_to_taps
from brookmere.run.query.transports import SinkSpec, Transport
from brookmere.run.query.worker_environment import worker_env
from brookmere.topology.nodes import SourceNode

COUNTERS = ("received", "forwarded", "dropped", "failed", "late")
_NO_TIME = -(1 << 63)


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """How a query between topics runs, the same at every start."""

    reset: str = "earliest"
    """Where the first start begins: earliest, latest or none."""
    lost: str = "fail"
    """What to do when retention has removed unread records: fail or continue."""
    max_batch_records: int = 0
    """0 takes everything that is waiting into one batch."""
    dead_letter: str | None = None
    """The topic for records that failed."""
    interval_ms: int = 0
    """The time between the starts of two batches."""
    clock_ms: int = 1000
    """How often a program that depends on the wall clock gets the time while no records arrive."""
    spark_partitions: int | None = None


@dataclass(frozen=True, slots=True)
class StartPoint:
    """Where a start begins, in addition to what its checkpoint says."""

    offsets: str = ""
    """The offsets for a checkpoint that has none yet, as the source writes them."""
    ended: Sequence[str] = ()
    """The names of earlier queries of the same run, which this one continues."""
    takeover: str | None = None
    """The state of another version of the program to migrate. Such a query reads no records and then ends."""


@dataclass(frozen=True, slots=True)
class TopicsQuery:
    """The query of a program from topics to topics, ready to start on a checkpoint."""

    compiled: Compiled
    session: SparkSession
    transport: Transport
    application: str
    options: QueryOptions = field(default_factory=QueryOptions)

    def start(self, checkpoint: Path, at: StartPoint | None = None) -> Query:
        """Start the query; it resumes from the last commit in its checkpoint."""
        at = at or StartPoint()
        name = f"{self.application}-{uuid.uuid4().hex[:8]}"
        jvm: Any = self.session._jvm
        count = _partitions(self.session, checkpoint, self.options.spark_partitions)
        place = self.transport.open(
            jvm, name, self.application, self.compiled.plan, count, begun(checkpoint), at.ended
        )
        interval = self.options.interval_ms
        trigger: dict[str, Any] | None = None
        if at.takeover is not None:
            trigger = {"availableNow": True}
        elif interval > 0:
            trigger = {"processingTime": f"{interval} milliseconds"}
        return Query.start(
            self.compiled,
            _TopicsConnection(self, name, place, at),
            session=self.session,
            options=SparkOptions(checkpoint, self.application, count, trigger, at.takeover),
        )


class Connection(Protocol):
    """What a query reads from and writes to, from its start to its end."""

    @property
    def name(self) -> str | None:
        """The unique name of this start, under which the JVM knows its source and sink."""

    @property
    def raised(self) -> list[Exception]:
        """What Python code raised while a batch was written: Spark passes on only its text."""

    def read(self) -> DataFrame:
        """Return the raw rows that stage 0 reads."""

    def write(self, rows: DataFrame, assembly: Any) -> DataStreamWriter:
        """Return the writer for the rows of the last stage."""

    def hold(self) -> None:
        """Take no more records."""

    def take_failures(self) -> list[RecordError]:
        """Return the records that failed and were skipped since the last call."""

    def take_notices(self) -> list[str]:
        """Return what belongs into the log since the last call."""

    def close(self) -> None:
        """Free what the JVM holds for the source and the sink."""


@dataclass(frozen=True, slots=True)
class _TopicsConnection:
    """Embedded topics or Kafka, for one start of a query."""

    query: TopicsQuery
    name: str
    place: Any
    at: StartPoint
    raised: list[Exception] = field(default_factory=list)

    def read(self) -> DataFrame:
        compiled, options, session = self.query.compiled, self.query.options, self.query.session
        is_migration = self.at.takeover is not None
        clock = {} if is_migration else wall_options(compiled.plan, compiled.program, options.clock_ms)
        return read_topics(
            session,
            self.query.transport,
            compiled.plan.topics,
            layout="raw",
            reset=options.reset,
            lost=options.lost,
            limit=options.max_batch_records,
            application=self.name,
            whole=json.dumps(sorted(_global_topics(compiled))),
            begin=self.at.offsets,
            stay=str(is_migration).lower(),
            cores=session.sparkContext.defaultParallelism,
            **clock,
        )

    def write(self, rows: DataFrame, assembly: Any) -> DataStreamWriter:  # noqa: ARG002
        compiled, dead_letter = self.query.compiled, self.query.options.dead_letter
        jvm = self.query.session._jvm
        sink = to_java(jvm, SinkSpec(self.name, self.query.application, list(compiled.numbers), dead_letter))
        to = to_java(jvm, compiled.destinations)
        self._topics.Sinks.register(sink, to, compiled.program, self.place)
        if compiled.taps:
            listen_to_taps(self.query.session, self.name, compiled, self.raised)
        return rows.writeStream.format(self.query.transport.format).option("plan", self.name)

    def hold(self) -> None:
        self._topics.Draining.begin(self.name)

    def take_failures(self) -> list[RecordError]:
        data = bytes(self._topics.Sinks.takeFailures(self.name))
        return [found for found in read_outputs(data) if isinstance(found, RecordError)]

    def take_notices(self) -> list[str]:
        return self.query.transport.notices(self.query.session._jvm, self.name)

    def close(self) -> None:
        self._topics.Sinks.forget(self.name)
        self.query.transport.close(self.query.session._jvm, self.name)

    @property
    def _topics(self) -> Any:
        jvm: Any = self.query.session._jvm
        return jvm.brookmere.kernel.transport


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """How Spark runs a query, whatever the query reads and writes."""

    checkpoint: str | Path
    name: str | None = None
    spark_partitions: int | None = None
    trigger: Mapping[str, Any] | None = None
    takeover: str | None = None
    """The state of another version of the program, with which the first batch begins."""


@dataclass(frozen=True, slots=True)
class Query:
    """A running query of a topology."""

    handle: StreamingQuery
    compiled: Compiled
    assembly: Any
    session: SparkSession
    connection: Connection

    @classmethod
    def start(
        cls, compiled: Compiled, connection: Connection, *, session: SparkSession, options: SparkOptions
    ) -> Query:
        """Start the query of a compiled program in Spark."""
        raw = connection.read()
        count = _partitions(session, options.checkpoint, options.spark_partitions)
        jvm: Any = session._jvm
        assembly = jvm.org.apache.spark.sql.brookmere.Assembly(
            session._jsparkSession, compiled.program, count
        )
        if compiled.python:
            assembly.runPython(worker_env(session))
        if options.takeover is not None:
            assembly.migrateFrom(options.takeover)
        rows = DataFrame(assembly.rows(raw._jdf), session)
        before = session.conf.get("spark.sql.shuffle.partitions")
        session.conf.set("spark.sql.shuffle.partitions", str(count))
        try:
            writer = connection.write(rows, assembly).outputMode("update")
            writer = writer.option("checkpointLocation", str(options.checkpoint))
            if options.name is not None:
                writer = writer.queryName(options.name)
            if options.trigger is not None:
                writer = writer.trigger(**options.trigger)
            return cls(writer.start(), compiled, assembly, session, connection)
        finally:
            session.conf.set("spark.sql.shuffle.partitions", before or "2")

    @property
    def raised(self) -> list[Exception]:
        """What Python code raised while a batch was written."""
        return self.connection.raised

    def process_all_available(self) -> None:
        """Wait until all available records are processed.

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
            # A record's failure says everything; for another failure the cause may help.
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

        Late records are also among the dropped ones.
        """
        return read_counters(self.compiled, self._numbers(self.assembly.counts()))

    def stream_times(self) -> dict[str, int]:
        """Return the latest record time of each topic since the start, without topics that had no record."""
        found = zip(self.compiled.plan.topics, self._numbers(self.assembly.latestTimes()), strict=True)
        return {topic: time for topic, time in found if time != _NO_TIME}

    def _numbers(self, array: Any) -> list[int]:
        jvm: Any = self.session._jvm
        # As text, because every element of an array costs a call of its own.
        text = str(jvm.java.util.Arrays.toString(array)).strip("[]")
        return [int(number) for number in text.split(", ")] if text else []

    def take_failures(self) -> list[RecordError]:
        """Return the records that failed and were skipped since the last call."""
        return self.connection.take_failures()

    def take_notices(self) -> list[str]:
        """Return what belongs into the log since the last call."""
        return self.connection.take_notices()

    def stop(self, timeout: float = 60.0) -> None:
        """Stop the query; its checkpoint stays.

        A query between topics takes no more records and finishes the current batch first. A batch that
        takes more than `timeout` seconds is aborted and repeated at the next start.
        """
        self.finish(timeout)
        self.forget()

    def finish(self, timeout: float) -> None:
        """Stop the query as `stop` does, but keep its counters and failures readable."""
        if self.connection.name is not None:
            self.connection.hold()
            deadline = time.monotonic() + timeout
            while (
                self.handle.isActive and self.handle.status["isTriggerActive"] and time.monotonic() < deadline
            ):
                time.sleep(0.01)
        self.handle.stop()

    def forget(self) -> None:
        """Free what the JVM holds for a query that has ended."""
        self.assembly.forget(str(self.handle.runId))
        self.connection.close()


def read_topics(
    session: SparkSession, transport: Transport, names: Sequence[str], **options: Any
) -> DataFrame:
    """Return the records of topics as a streaming DataFrame."""
    reader = session.readStream.format(transport.format).option("topics", json.dumps(list(names)))
    for option, value in {**transport.options(), **options}.items():
        reader = reader.option(option, str(value))
    return reader.load()


def read_counters(compiled: Compiled, sums: Any) -> dict[str, dict[str, int]]:
    """Return the kernel's counts by node name."""
    flat = list(sums)
    width = len(COUNTERS)
    return {
        name: dict(zip(COUNTERS, flat[number * width : (number + 1) * width], strict=True))
        for name, number in compiled.numbers.items()
    }


def _partitions(session: SparkSession, checkpoint: str | Path, wanted: int | None) -> int:
    """Return how many Spark partitions a query has; once a checkpoint exists, that cannot change."""
    default = int(session.conf.get("spark.sql.shuffle.partitions") or "2")
    return checkpointed_partitions(checkpoint) or wanted or default


def _global_topics(compiled: Compiled) -> set[str]:
    sources = [n for n in compiled.plan.topology.nodes if isinstance(n, SourceNode) and n.is_global]
    return {topic for source in sources for topic in compiled.plan.topics_of(source)}

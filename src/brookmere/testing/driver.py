"""TopologyTestDriver: runs a topology on the records of a test."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, Self, get_args

from pyspark.sql import SparkSession

from brookmere.config import check_choice
from brookmere.dsl.base_builder import Builder
from brookmere.durations import Duration, to_timedelta
from brookmere.errors import ConfigError, RecordError
from brookmere.plan.stages import plan
from brookmere.record import Record
from brookmere.run.compile.compiler import DEFAULT_LOG_BYTES, HANDLERS, compile_plan
from brookmere.run.query.outputs import Written, read_outputs
from brookmere.run.query.session import spark_session
from brookmere.run.query.taps import show
from brookmere.serde import Bytes, Registry, Serde, partition_for
from brookmere.testing.engines import Engine, LocalEngine, RawRecord, SparkEngine, StoreRow, clock_record
from brookmere.testing.settings import partition_counts, unknown
from brookmere.testing.stores import StoreView, as_of, latest
from brookmere.testing.topics import InputTopic, OutputTopic
from brookmere.testing.visible_values import visible_of
from brookmere.topics.times import milliseconds
from brookmere.topology.nodes import SinkNode, SourceNode, StoreType, Topology


class TopologyTestDriver:
    """Run a topology without topics: in memory, or with `engine="spark"` in a real query.

    Each record goes through the whole topology before the next, and every update is sent, unless
    `emit="last"` requests only the last one per key and batch. With one partition, all sub-topologies share
    one stream time, as in Kafka Streams' driver. `registry` is used by serdes that name none, like the
    setting schema.registry.url of an application.

    >>> import brookmere as bm
    >>> app = bm.StreamsBuilder("shout", key=bm.Text(), value=bm.Text())
    >>> app.stream("in").map_values(lambda value: value + "!").to("out")
    >>> with TopologyTestDriver(app) as driver:
    ...     driver.input_topic("in").pipe_input("a", "hello")
    ...     driver.output_topic("out").read_key_value()
    ('a', 'hello!')
    """

    def __init__(
        self,
        program: Builder | Topology,
        *,
        partitions: int | Mapping[str, int] = 1,
        engine: Literal["local", "spark"] = "local",
        emit: Literal["every", "last"] = "every",
        start_time: int | datetime = 0,
        on_error: Literal["fail", "continue"] = "fail",
        store_type: StoreType = "auto",
        log_bytes: int = DEFAULT_LOG_BYTES,
        session: SparkSession | None = None,
        spark_partitions: int | None = None,
        registry: Registry | str | None = None,
    ) -> None:
        check_choice("engine", engine, ("local", "spark"))
        check_choice("emit", emit, ("every", "last"))
        check_choice("on_error", on_error, ("fail", "continue"))
        check_choice("store_type", store_type, get_args(StoreType))
        topology = program.build() if isinstance(program, Builder) else program
        spark = session or spark_session()
        self._registry = Registry(registry) if isinstance(registry, str) else registry
        self._plan = plan(topology, partition_counts(topology, partitions))
        self._compiled = compile_plan(
            self._plan,
            spark,
            continue_on=HANDLERS if on_error == "continue" else (),
            last_per_batch=emit == "last",
            store_type=store_type,
            log_bytes=log_bytes,
            registry=self._registry,
            is_one_task=self._plan.tasks == 1,
        )
        self._engine: Engine = (
            LocalEngine(self._compiled, spark)
            if engine == "local"
            else SparkEngine(self._compiled, spark, spark_partitions)
        )
        self._tells_time = bool(self._compiled.program.needsWall())
        self._has_begun = False
        self._store_type = store_type
        self._time = milliseconds(start_time)
        self._clock = 0
        self._offsets: dict[tuple[str, int], int] = {}
        self._queues: dict[str, deque[Record]] = {}
        self.errors: list[RecordError] = []
        """The records that failed and were skipped under `on_error="continue"`."""

    def input_topic(
        self,
        name: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        start_time: int | datetime | None = None,
        advance: Duration = timedelta(0),
    ) -> InputTopic:
        """Return a handle to write to a topic; the serdes are those of its source unless given here."""
        self._source(name)
        serdes = (key, value)

        def pipe(records: Sequence[tuple[str, Record]]) -> None:
            self._pipe([self._raw(topic, record, *serdes) for topic, record in records])

        start = self._time if start_time is None else milliseconds(start_time)
        return InputTopic(name, pipe, start_time=start, advance=advance)

    def output_topic(self, name: str, *, key: Serde | None = None, value: Serde | None = None) -> OutputTopic:
        """Return a handle to read a topic; the serdes are those of its sink unless given here."""
        sink = self._sink(name)
        keys = self._placed_serde(key or self._sink_serde(sink, is_key=True), name, is_key=True)
        values = self._placed_serde(value or self._sink_serde(sink, is_key=False), name, is_key=False)
        return OutputTopic(name, self._queues.setdefault(name, deque()), keys, values)

    def pipe_records(self, records: Iterable[tuple[str, Record]]) -> None:
        """Pipe records, each with the name of its topic, as one micro-batch.

        A program that reads its own output receives them one by one: each goes through the loop before the
        next.
        """
        raw = [self._raw(topic, record) for topic, record in records]
        loops = any(topic in self._plan.topics for topic in self._compiled.sinks.values())
        for batch in [[one] for one in raw] if loops else [raw]:
            self._pipe(batch)

    def store(self, name: str) -> StoreView:
        """Return a view of a store."""
        stage_of = {store: stage.number for stage in self._plan.stages for store in stage.stores}
        if name not in stage_of:
            raise ConfigError(unknown("store", name, stage_of))
        store = self._plan.topology.store(name)
        kind = self._store_type if store.store_type == "auto" else store.store_type

        def read() -> list[StoreRow]:
            rows = self._engine.store(name, kind, stage_of[name])
            # Every task has all rows of a global table.
            return list({repr(row[0]): row for row in rows}.values()) if store.is_global else rows

        if store.kind == "versioned":
            history = store.retention_ms or 0
            return StoreView(
                name, lambda: latest(read()), look=lambda key, time: as_of(read(), history, key, time)
            )
        return StoreView(name, read, visible=visible_of(self._plan.topology, name))

    def advance_wall_clock(self, step: Duration) -> None:
        """Advance the wall clock, which starts at `start_time`, and notify the program."""
        ticks = bool(self._compiled.program.needsTicks())
        if ticks and self._compiled.python and not self._has_begun:
            # Processors start with the driver, and their schedules count from then.
            self._pipe([clock_record(self._time, ticks=False)])
        self._time += to_timedelta(step) // timedelta(milliseconds=1)
        if ticks:
            self._pipe([clock_record(self._time, ticks=True)])

    @property
    def wall_clock(self) -> int:
        """The wall clock in milliseconds."""
        return self._time

    @property
    def counters(self) -> dict[str, dict[str, int]]:
        """How many records each node received, forwarded, dropped and failed on."""
        return self._engine.counters()

    def restart(self) -> None:
        """Restart from the state alone, as after a crash between two batches."""
        self._engine.restart()

    def close(self) -> None:
        """Release the resources of the driver."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _source(self, topic: str) -> SourceNode:
        for node in self._plan.topology.nodes:
            if isinstance(node, SourceNode) and not node.internal and topic in self._plan.topics_of(node):
                return node
        raise ConfigError(unknown("input topic", topic, self._plan.topics))

    def _sink(self, topic: str) -> SinkNode:
        """Return the sink that writes the topic, or one whose records name their topics."""
        sinks = [n for n in self._plan.topology.nodes if isinstance(n, SinkNode) and not n.internal]
        fixed = {sink.topic: sink for sink in reversed(sinks) if isinstance(sink.topic, str)}
        routing = [sink for sink in sinks if not isinstance(sink.topic, str)]
        if topic not in fixed and not routing:
            raise ConfigError(unknown("output topic", topic, fixed))
        return fixed.get(topic) or routing[0]

    def _sink_serde(self, sink: SinkNode, *, is_key: bool) -> Serde:
        given = sink.key if is_key else sink.value
        from brookmere.run.wire.wire import Wire  # only needed to read an output

        return Wire.settled(given, self._compiled.builder, self._compiled.numbers[sink.name], is_key)

    def _placed_serde(self, serde: Serde, topic: str, *, is_key: bool) -> Serde:
        return serde.for_topic(topic, is_key=is_key, registry=self._registry)

    def _raw(
        self, topic: str, record: Record, key: Serde | None = None, value: Serde | None = None
    ) -> RawRecord:
        source = self._source(topic)
        key_serde, value_serde = key or source.key or Bytes(), value or source.value or Bytes()
        return self._placed(
            topic,
            self._placed_serde(key_serde, topic, is_key=True).serialize(record.key),
            self._placed_serde(value_serde, topic, is_key=False).serialize(record.value),
            record.timestamp,
            record.headers,
            record.partition,
        )

    def _placed(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: tuple[tuple[str, bytes | None], ...],
        partition: int | None = None,
    ) -> RawRecord:
        count = self._plan.partitions[topic]
        if partition is None:
            # Kafka's producer spreads records without a key; round robin is as good as any order.
            partition = self._clock % count if key is None else partition_for(key, count)
        if not 0 <= partition < count:
            raise ConfigError(
                f"The topic {topic!r} has {count} partitions, so there is no partition {partition}"
            )
        offset = self._offsets.get((topic, partition), 0)
        self._offsets[topic, partition] = offset + 1
        clock = self._clock
        self._clock += 1
        number = self._plan.topics.index(topic)
        return RawRecord(number, partition, offset, timestamp, clock, key, value, headers)

    def _pipe(self, records: list[RawRecord]) -> None:
        """Run a batch, then the output that the program reads itself."""
        # A test may have registered schemas meanwhile.
        self._compiled.schemas.publish()
        self._has_begun = True
        while records:
            # Only programs that use the wall clock receive it.
            clock = [clock_record(self._time, ticks=False)] if self._tells_time else []
            outputs = self._engine.run([*clock, *records])
            written = [self._take(out) for out in read_outputs(outputs)]
            again = [w for w in written if w is not None and w.topic in self._plan.topics]
            records = [self._placed(r.topic or "", r.key, r.value, r.timestamp, r.headers) for r in again]

    def _take(self, out: Written | RecordError) -> Record | None:
        if isinstance(out, RecordError):
            self.errors.append(out)
            return None
        if out.node in self._compiled.taps:
            show([(out.node, out.key, out.value)], self._compiled)
            return None
        topic = out.topic if out.topic is not None else self._compiled.sinks[out.node]
        record = Record(out.key, out.value, out.timestamp, out.headers, topic, out.task)
        self._queues.setdefault(topic, deque()).append(record)
        return record

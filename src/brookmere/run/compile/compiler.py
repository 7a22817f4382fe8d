"""Compiles a plan into the kernel's program: calls the lambdas with Columns and binds what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, overload

from pyspark.sql import SparkSession

from brookmere.errors import ExpressionError, Fault
from brookmere.plan.early_folds import combinable
from brookmere.plan.stages import Plan
from brookmere.run.compile.aggregates import fold_early
from brookmere.run.compile.build_context import Processors
from brookmere.run.compile.joins import state_sources
from brookmere.run.compile.operators import add_operator
from brookmere.run.compile.python.nodes import PythonNodes
from brookmere.run.compile.time import source_time
from brookmere.run.expressions.columns import RECORD, column
from brookmere.run.expressions.faults import about, explained
from brookmere.run.program_builder import (
    DestinationSpec,
    Place,
    Program,
    ProgramBuilder,
    SourceSpec,
    program_builder,
)
from brookmere.run.program_builder import LogStart as LogStart
from brookmere.run.wire.schemas import SchemaFormats
from brookmere.run.wire.wire import Wire
from brookmere.serde import Registry, Serde, Windowed
from brookmere.topology import operators as op
from brookmere.topology.function import Function
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, StoreType
from brookmere.topology.python_code import is_python
from brookmere.worker.aggregates import FoldCode
from brookmere.worker.protocol.stage_code import StageCode

HANDLERS = ("deserialization", "processing", "production")
DEFAULT_CACHE_BYTES = 64 << 20
DEFAULT_LOG_BYTES = 256 << 20
"""What a store of a task may keep in memory before it turns to a row of the state per key."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program in the JVM, and what Python must know to read its output."""

    plan: Plan
    program: Program
    builder: ProgramBuilder
    numbers: Mapping[str, int]
    """The number of each node, which the kernel's rows carry."""
    sinks: Mapping[int, str]
    """Topics of the sinks that write to a fixed one."""
    routed: frozenset[int]
    """Sinks whose topic comes with each record."""
    windowed: Mapping[int, int]
    """By sink, how many bytes at the end of its keys are a window: the key in front decides the partition."""
    taps: Mapping[int, Callable[[Any, Any], object]]
    schemas: SchemaFormats
    """The schemas that the kernel knows."""
    changelogs: Mapping[int, str]
    """By sink, the store whose changes it writes: to the partition of the task, whatever the key."""
    python: Mapping[int, StageCode | FoldCode] = field(default_factory=dict)
    """By stage, the Python code that workers run."""
    python_stores: Mapping[str, int] = field(default_factory=dict)
    """By store of Python code, the number that has the types of what it keeps."""

    @property
    def destinations(self) -> DestinationSpec:
        """Where the rows of the last stage go."""
        return DestinationSpec(self.sinks, self.routed, set(self.taps), self.windowed, set(self.changelogs))


def compile_plan(
    plan: Plan,
    session: SparkSession,
    *,
    continue_on: tuple[str, ...] = (),
    last_per_batch: bool = False,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    log_bytes: int = DEFAULT_LOG_BYTES,
    store_type: StoreType = "auto",
    timestamps: str = "fail",
    log_starts: Mapping[str, LogStart] | None = None,
    registry: Registry | None = None,
    registers: bool = True,
    is_one_task: bool = False,
) -> Compiled:
    """Return the program of `plan`.

    `continue_on` names the handlers that skip a failed record: deserialization, processing, production.
    `store_type` is the kind of the stores that leave it open: "memory", "rocksdb", or "auto", which begins in
    memory and turns to rocksdb when a task's rows exceed `log_bytes`. `cache_bytes` bounds what a rocksdb
    store keeps in memory between batches. `timestamps` is what the setting default.timestamp.extractor says,
    and `log_starts` says, for each store with a changelog, since when it exists.
    `registry` is that of serdes which name none; with `registers=False` no schema is registered.
    With `is_one_task` all sub-topologies share one stream time, as in the test driver of Kafka Streams.

    Raises:
        ExpressionError: lambdas cannot be compiled; the error lists all of them.
    """
    folded_by = {sender: name for name, sender in combinable(plan).items()} if last_per_batch else {}
    starts = log_starts or {}
    compiler = _Compiler(
        plan, session, store_type, folded_by, timestamps, starts, registry, registers, is_one_task
    )
    return compiler.compile(continue_on, last_per_batch, cache_bytes, log_bytes)


@dataclass(slots=True)
class _Compiler:
    plan: Plan
    session: SparkSession
    store_type: StoreType
    folded_by: Mapping[str, str]
    """By the name of a node, the aggregate that folds the records in front of it."""
    timestamps: str
    log_starts: Mapping[str, LogStart]
    registry: Registry | None
    registers: bool
    is_one_task: bool
    builder: ProgramBuilder = field(init=False)
    wire: Wire = field(init=False)
    processors: Processors = field(init=False)
    python: PythonNodes = field(init=False)
    numbers: dict[str, int] = field(init=False)
    stages: dict[str, int] = field(init=False)
    faults: list[Fault] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.builder = program_builder(self.session, len(self.plan.stages), self.plan.tasks, self.plan.topics)
        self.builder.exchange_before([stage.number for stage in self.plan.stages if stage.exchange])
        self.wire = Wire(self.session, self.builder, registers=self.registers)
        self.numbers = {node.name: i for i, node in enumerate(self.plan.topology.nodes)}
        # Behind the nodes there is room for folds in front of some of them, then for copies of tables.
        self.builder.count_copies_from(2 * len(self.numbers))
        self.stages = self.plan.stage_of()
        self.processors = Processors(self.plan, self.builder, self.wire, self.numbers, self.store_type)
        self.python = PythonNodes(self.plan, self.builder, self.wire, self.numbers, self.is_one_task)

    def compile(
        self, continue_on: tuple[str, ...], last_per_batch: bool, cache_bytes: int, log_bytes: int
    ) -> Compiled:
        for node in self.plan.topology.nodes:
            self._add(node)
        if self.faults:
            raise ExpressionError(self.faults)
        self._branch_targets()
        codes = self.python.finish(last_per_batch)
        nodes = self.plan.topology.nodes
        sinks = [n for n in nodes if isinstance(n, SinkNode) and not n.internal]
        return Compiled(
            plan=self.plan,
            program=self.builder.build(list(continue_on), last_per_batch, cache_bytes, log_bytes),
            builder=self.builder,
            numbers=self.numbers,
            sinks={self.numbers[s.name]: s.topic for s in sinks if isinstance(s.topic, str)},
            routed=frozenset(self.numbers[s.name] for s in sinks if not isinstance(s.topic, str)),
            windowed={self.numbers[s.name]: s.key.window_bytes for s in sinks if isinstance(s.key, Windowed)},
            taps={
                self.numbers[n.name]: n.operator.action
                for n in nodes
                if isinstance(n, ProcessorNode) and isinstance(n.operator, op.Tap)
            },
            schemas=self.wire.formats,
            changelogs={self.numbers[s.name]: s.changelog_of for s in sinks if s.changelog_of is not None},
            python=codes,
            python_stores=self.python.stores.numbers,
        )

    def _add(self, node: Node) -> None:
        """Add a node, unless one that it reads from has failed: each fault is reported once."""
        above = self._senders(node) if isinstance(node, SourceNode) else list(node.parents)
        if isinstance(node, ProcessorNode):
            above += state_sources(self.plan.topology, node)
        if any(name in self.failed for name in above):
            self.failed.add(node.name)
            return
        where = str(node.location) if node.location else None
        try:
            with explained(f"node {node.name}", where):
                if isinstance(node, SourceNode):
                    self._add_source(node, where)
                elif isinstance(node, SinkNode):
                    self._add_sink(node, where)
                elif is_python(node):
                    self.python.add(node, self._at(node), self.processors.kind)
                else:
                    add_operator(self.processors, node, self._at(node))
        except ExpressionError as error:
            # Aggregates that share a store have the same faults.
            self.faults += [fault for fault in error.faults if fault not in self.faults]
            self.failed.add(node.name)

    def _at(self, node: ProcessorNode | SinkNode) -> Place:
        parents = [self.numbers[p] for p in node.parents]
        at = Place(self.numbers[node.name], node.name, self.stages[node.name], parents)
        if node.name not in self.folded_by:
            return at
        aggregate = self.plan.topology.node(self.folded_by[node.name])
        if not isinstance(aggregate, ProcessorNode) or is_python(aggregate):
            return at
        return fold_early(self.processors, aggregate, at)

    def _senders(self, source: SourceNode) -> list[str]:
        if not source.internal:
            return []
        nodes = self.plan.topology.nodes
        return [n.name for n in nodes if isinstance(n, SinkNode) and n.internal and n.topic in source.topics]

    def _add_source(self, node: SourceNode, where: str | None) -> None:
        at = Place(self.numbers[node.name], node.name, self.stages[node.name], [])
        if node.internal:
            senders = [self.numbers[name] for name in self._senders(node)]
            self.builder.internal_source(at, senders)
            return
        if node.key is None or node.value is None:
            raise ExpressionError(
                [Fault(f"The source {node.name} has no serdes", where, "Give key= and value=")]
            )
        only = node.topics[0] if len(node.topics) == 1 else None
        key = self.wire.reader(self._placed(node.key, only, True), f"key serde of {node.name}", where)
        value = self.wire.reader(self._placed(node.value, only, False), f"value serde of {node.name}", where)
        topics = [self.plan.topics.index(topic) for topic in self.plan.topics_of(node)]
        with about(node.timestamp, node.name, where):
            time = source_time(self.builder, node, key, value, self.timestamps)
            self.builder.source(at, SourceSpec(topics, node.is_global, node.on_bad_record), key, value, time)

    def _add_sink(self, node: SinkNode, where: str | None) -> None:
        at = self._at(node)
        parent = at.parents[0]
        if node.internal:
            topic = str(node.topic)
            given = self._placed(node.key, self._topic_name(topic), True)
            key = self.wire.key_writer(given, parent, f"key of {node.name}", where)
            target = self.numbers[self._receiver(topic).name]
            self.builder.repartition(at, target, self.plan.partitions[topic], key)
            return
        if node.changelog_of is not None:
            topic = str(node.topic)
            keys, values = self._placed(node.key, topic, True), self._placed(node.value, topic, False)
            kept = self.python.stores.numbers.get(node.changelog_of)
            of = parent if kept is None else kept
            key = self.wire.log_writer(keys, of, True, f"key of {node.name}", where)
            value = self.wire.log_writer(values, of, False, f"value of {node.name}", where)
            start = self.log_starts.get(node.changelog_of, LogStart())
            if kept is None:
                self.builder.changelog(at, key, value, start)
            else:
                self.builder.store_changelog(at, kept, key, value, start)
            return
        if node.late:
            # It writes what its parent receives.
            operator = self.plan.topology.node(node.parents[0])
            parent = self.numbers[operator.parents[0]] if not isinstance(operator, SourceNode) else parent
        fixed = node.topic if isinstance(node.topic, str) else None
        keys, values = self._placed(node.key, fixed, True), self._placed(node.value, fixed, False)
        key = self.wire.writer(keys, parent, True, f"key written by {node.name}", where)
        value = self.wire.writer(values, parent, False, f"value written by {node.name}", where)
        if node.late:
            # What a Python node drops is known in its own stage only.
            at = replace(at, stage=self.stages[node.parents[0]])
            self.builder.late_sink(at, at.parents[0], parent, key, value)
            return
        with about(node.topic, node.name, where):
            route = column(node.topic, RECORD) if isinstance(node.topic, Function) else None
            self.builder.sink(at, key, value, route)

    @overload
    def _placed(self, serde: Serde, topic: str | None, is_key: bool) -> Serde: ...
    @overload
    def _placed(self, serde: None, topic: str | None, is_key: bool) -> None: ...
    def _placed(self, serde: Serde | None, topic: str | None, is_key: bool) -> Serde | None:
        return None if serde is None else serde.for_topic(topic, is_key=is_key, registry=self.registry)

    def _topic_name(self, internal: str) -> str:
        """Return the name that an internal topic has on Kafka: a registry knows schemas by it."""
        return f"{self.plan.topology.application_id}-{internal}"

    def _receiver(self, topic: str) -> SourceNode:
        nodes = self.plan.topology.nodes
        return next(n for n in nodes if isinstance(n, SourceNode) and n.internal and topic in n.topics)

    def _branch_targets(self) -> None:
        for node in self.plan.topology.nodes:
            if (
                isinstance(node, ProcessorNode)
                and isinstance(node.operator, op.Branch)
                and not is_python(node)
            ):
                for position, child in enumerate(node.operator.children):
                    self.builder.branch_target(self.numbers[node.name], position, self.numbers[child])

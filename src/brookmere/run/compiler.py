"""Turns a plan into the kernel's program: calls every lambda once and binds what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql.types import DataType, _parse_datatype_json_string

from brookmere.errors import ExpressionError, Fault
from brookmere.plan.stages import Plan
from brookmere.run.columns import NOTHING, RECORD, REDUCER, STEP, column, pair, to_column
from brookmere.run.refusals import explained
from brookmere.run.shorts import Folded, TypeOf, fold
from brookmere.run.wire import Wire
from brookmere.topology import operators as op
from brookmere.topology.function import Function
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode

HANDLERS = ("deserialization", "processing", "production")
DEFAULT_CACHE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program in the JVM, and what Python must know to read its output."""

    plan: Plan
    program: Any
    builder: Any
    numbers: Mapping[str, int]
    """The number of each node, which the kernel's rows carry."""
    sinks: Mapping[int, str]
    """Topics of the sinks that write to a fixed one."""
    routed: frozenset[int]
    """Sinks whose topic comes with each record."""
    taps: Mapping[int, Callable[[Any, Any], object]]


def compile_plan(
    plan: Plan,
    session: SparkSession,
    *,
    continue_on: tuple[str, ...] = (),
    last_per_batch: bool = False,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    store_type: str = "memory",
) -> Compiled:
    """Return the program of `plan`.

    `continue_on` names the handlers that skip a failed record: deserialization, processing, production.
    `store_type` is the kind of the stores that leave it open.

    Raises:
        ExpressionError: lambdas cannot be compiled; the error lists all of them.
    """
    return _Compiler(plan, session, store_type).compile(continue_on, last_per_batch, cache_bytes)


@dataclass(slots=True)
class _Compiler:
    plan: Plan
    session: SparkSession
    store_type: str
    builder: Any = None
    wire: Wire = field(init=False)
    numbers: dict[str, int] = field(init=False)
    stages: dict[str, int] = field(init=False)
    faults: list[Fault] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    aggregate_types: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        jvm: Any = self.session._jvm  # type: ignore[attr-defined]
        self.builder = jvm.brookmere.kernel.program.ProgramBuilder(
            self.session._jsparkSession,  # type: ignore[attr-defined]
            len(self.plan.stages),
            self.plan.tasks,
            list(self.plan.topics),
        )
        self.wire = Wire(self.session, self.builder)
        self.numbers = {node.name: i for i, node in enumerate(self.plan.topology.nodes)}
        self.stages = self.plan.stage_of()

    def compile(self, continue_on: tuple[str, ...], last_per_batch: bool, cache_bytes: int) -> Compiled:
        for node in self.plan.topology.nodes:
            self._add(node)
        if self.faults:
            raise ExpressionError(self.faults)
        self._branch_targets()
        nodes = self.plan.topology.nodes
        sinks = [n for n in nodes if isinstance(n, SinkNode) and not n.internal]
        return Compiled(
            plan=self.plan,
            program=self.builder.build(list(continue_on), last_per_batch, cache_bytes),
            builder=self.builder,
            numbers=self.numbers,
            sinks={self.numbers[s.name]: s.topic for s in sinks if isinstance(s.topic, str)},
            routed=frozenset(self.numbers[s.name] for s in sinks if not isinstance(s.topic, str)),
            taps={
                self.numbers[n.name]: n.operator.action
                for n in nodes
                if isinstance(n, ProcessorNode) and isinstance(n.operator, op.Tap)
            },
        )

    def _add(self, node: Node) -> None:
        """Add a node; one whose parents failed is left out, so that each fault is told once."""
        above = self._senders(node) if isinstance(node, SourceNode) else list(node.parents)
        if any(name in self.failed for name in above):
            self.failed.add(node.name)
            return
        try:
            where = str(node.location) if node.location else None
            with explained(f"node {node.name}", where):
                if isinstance(node, SourceNode):
                    self._add_source(node, where)
                elif isinstance(node, SinkNode):
                    self._add_sink(node, where)
                else:
                    self._add_processor(node, where)
        except ExpressionError as error:
            self.faults += error.faults
            self.failed.add(node.name)

    def _senders(self, source: SourceNode) -> list[str]:
        nodes = self.plan.topology.nodes
        return [
            n.name for n in nodes if isinstance(n, SinkNode) and n.internal and n.topic in source.topics and source.internal
        ]

    def _add_source(self, node: SourceNode, where: str | None) -> None:
        number = self.numbers[node.name]
        if node.internal:
            senders = [self.numbers[name] for name in self._senders(node)]
            self.builder.internalSource(number, node.name, self.stages[node.name], senders)
            return
        assert node.key is not None and node.value is not None, "validated by build()"
        key = self.wire.reader(node.key, f"key serde of {node.name}", where)
        value = self.wire.reader(node.value, f"value serde of {node.name}", where)
        topics = [self.plan.topics.index(topic) for topic in self.plan.topics_of(node)]
        time = None if node.timestamp is None else column(node.timestamp, RECORD)._jc
        with _about(node.timestamp, node.name, where):
            self.builder.source(number, node.name, topics, key, value, time, node.is_global)

    def _add_sink(self, node: SinkNode, where: str | None) -> None:
        number, stage, parents = self._place(node)
        if node.internal:
            assert isinstance(node.topic, str)
            target = next(
                n for n in self.plan.topology.nodes if isinstance(n, SourceNode) and n.internal and node.topic in n.topics
            )
            key = self.wire.key_writer(node.key, parents[0], f"key of {node.name}", where)
            self.builder.repartition(
                number, node.name, stage, parents, self.numbers[target.name], self.plan.partitions[node.topic], key
            )
            return
        key = self.wire.writer(node.key, parents[0], True, f"key written by {node.name}", where)
        value = self.wire.writer(node.value, parents[0], False, f"value written by {node.name}", where)
        topic = None if isinstance(node.topic, str) else column(node.topic, RECORD)._jc
        with _about(None if isinstance(node.topic, str) else node.topic, node.name, where):
            self.builder.sink(number, node.name, stage, parents, key, value, topic)

    def _place(self, node: ProcessorNode | SinkNode) -> tuple[int, int, list[int]]:
        return self.numbers[node.name], self.stages[node.name], [self.numbers[p] for p in node.parents]

    def _add_processor(self, node: ProcessorNode, where: str | None) -> None:
        at = (*self._place(node)[:1], node.name, *self._place(node)[1:])
        add = self.builder
        match node.operator:
            case op.Filter(predicate, negate):
                with _about(predicate, node.name, where):
                    add.filter(*at, column(predicate, RECORD)._jc, negate)
            case op.Map(function):
                with _about(function, node.name, where):
                    key, value = pair(function, RECORD)
                    add.project(*at, key._jc, value._jc)
            case op.MapValues(function):
                with _about(function, node.name, where):
                    add.project(*at, None, column(function, RECORD)._jc)
            case op.SelectKey(function):
                with _about(function, node.name, where):
                    add.project(*at, column(function, RECORD)._jc, None)
            case op.FlatMap(function):
                with _about(function, node.name, where):
                    add.flatMap(*at, column(function, RECORD)._jc)
            case op.FlatMapValues(function):
                with _about(function, node.name, where):
                    add.flatMapValues(*at, column(function, RECORD)._jc)
            case op.Branch(predicates, _, default):
                tests = []
                for predicate in predicates:
                    with _about(predicate, node.name, where):
                        tests.append(column(predicate, RECORD)._jc)
                with _about(predicates[0] if predicates else None, node.name, where):
                    add.branch(*at, tests, default is not None)
            case op.Tap():
                add.tap(*at)
            case op.PassThrough():
                add.__getattr__("pass")(*at)
            case op.KeyNotNull():
                add.keyNotNull(*at)
            case op.TableToStream():
                add.tableToStream(*at)
            case op.TableSource(store, send_old):
                add.tableSource(*at, store, self._kind(store), send_old)
            case op.TableFilter(predicate, negate, store, send_old):
                with _about(predicate, node.name, where):
                    add.tableFilter(*at, column(predicate, RECORD)._jc, negate, store, self._kind(store), send_old)
            case op.TableMapValues(function, store, send_old, sees_null):
                with _about(function, node.name, where):
                    mapped = column(function, RECORD)._jc
                    add.tableMapValues(*at, mapped, store, self._kind(store), send_old, sees_null)
            case op.TableGroup(function):
                with _about(function, node.name, where):
                    key, value = pair(function, RECORD)
                    add.tableGroup(*at, key._jc, value._jc)
            case op.Aggregate():
                self._add_aggregate(node, node.operator, at, where)
            case op.TableAggregate():
                self._add_table_aggregate(node, node.operator, at, where)

    def _add_aggregate(self, node: ProcessorNode, o: op.Aggregate, at: tuple[Any, ...], where: str | None) -> None:
        folded = self._folded(o.step, node, where)
        initial = folded.initial if folded else self._initial(o.initial)
        step = folded.add if folded else self._step(o.step, o.initial)
        with _about(o.step, node.name, where):
            kept = self._aggregate_type(o.store, initial)
            self.builder.aggregate(
                *at, o.store, self._kind(o.store), _jc(initial), step._jc, kept, _jc(folded and folded.result), o.send_old
            )

    def _add_table_aggregate(
        self, node: ProcessorNode, o: op.TableAggregate, at: tuple[Any, ...], where: str | None
    ) -> None:
        folded = self._folded(o.adder, node, where)
        initial = folded.initial if folded else self._initial(o.initial)
        add = folded.add if folded else self._step(o.adder, o.initial)
        subtract = folded.subtract if folded else self._step(o.subtractor, o.initial)
        assert subtract is not None, "the DSL offers what can be subtracted only"
        with _about(o.adder, node.name, where):
            parents = [self.numbers[p] for p in node.parents] * 2
            kept = self.builder.aggregateType(_jc(initial), parents, [add._jc, subtract._jc])
            self.builder.tableAggregate(
                *at, o.store, self._kind(o.store), _jc(initial), add._jc, subtract._jc, kept,
                _jc(folded and folded.result), o.send_old,
            )  # fmt: skip

    def _aggregate_type(self, store: str, initial: Column | None) -> str:
        """Return the type that a store keeps: all aggregates that share it have a say."""
        if store not in self.aggregate_types:
            sharing = [
                (n, n.operator)
                for n in self.plan.topology.nodes
                if isinstance(n, ProcessorNode) and isinstance(n.operator, op.Aggregate) and n.operator.store == store
            ]
            known = [(n, o) for n, o in sharing if all(self._is_made(p) for p in n.parents)]
            parents = [self.numbers[n.parents[0]] for n, _ in known]
            steps = []
            for n, o in known:
                folded = self._folded(o.step, n, None)
                steps.append((folded.add if folded else self._step(o.step, o.initial))._jc)
            self.aggregate_types[store] = self.builder.aggregateType(_jc(initial), parents, steps)
        return self.aggregate_types[store]

    def _is_made(self, name: str) -> bool:
        return bool(self.builder.isMade(self.numbers[name]))

    def _folded(self, step: Function | tuple[op.ShortAggregate, ...], node: ProcessorNode, where: str | None) -> Folded | None:
        if isinstance(step, Function):
            return None
        parent = self.numbers[node.parents[0]]
        value_type = self.wire.type_of(parent, False)
        return fold(step, value_type, _ColumnTypes(self.builder, parent), where)

    def _initial(self, initial: op.Initial | None) -> Column | None:
        if initial is None:
            return None
        return to_column(initial.value) if isinstance(initial, op.Literal) else column(initial, NOTHING)

    def _step(self, step: Function | tuple[op.ShortAggregate, ...], initial: op.Initial | None) -> Column:
        assert isinstance(step, Function)
        return column(step, REDUCER if initial is None else STEP)

    def _kind(self, store: str | None) -> str:
        if store is None:
            return ""
        chosen = next(s.store_type for s in self.plan.topology.stores if s.name == store)
        return self.store_type if chosen == "auto" else chosen

    def _branch_targets(self) -> None:
        for node in self.plan.topology.nodes:
            if isinstance(node, ProcessorNode) and isinstance(node.operator, op.Branch):
                for position, child in enumerate(node.operator.children):
                    self.builder.branchTarget(self.numbers[node.name], position, self.numbers[child])


class _ColumnTypes(TypeOf):
    """Asks the builder what type a Column over a node's value has."""

    def __init__(self, builder: Any, node: int) -> None:
        self._builder = builder
        self._node = node

    def __call__(self, column: Column) -> DataType:
        return _parse_datatype_json_string(self._builder.columnType(self._node, column._jc))


def _jc(column: Column | None) -> Any:
    return None if column is None else column._jc


def _about(function: object, node: str, where: str | None) -> Any:
    """Explain failures as those of a user's function, at its own line."""
    if isinstance(function, Function):
        return explained(f"{function.role} ({node})", str(function.location))
    return explained(f"node {node}", where)

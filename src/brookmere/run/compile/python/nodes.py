"""Adds Python nodes to the kernel's program, and collects the code that workers run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql.types import DataType, _parse_datatype_json_string

from brookmere.errors import ExpressionError, Fault
from brookmere.plan.stages import Plan
from brookmere.run.compile.python.facets import Facet, Facets
from brookmere.run.compile.python.folds import Folds
from brookmere.run.compile.python.serialized_code import Unpicklable, dumps
from brookmere.run.compile.python.stores import PythonStores
from brookmere.run.compile.python.table_reads import PythonReads
from brookmere.run.compile.python.types import as_key
from brookmere.run.compile.python.work import Incoming, Worked, work_of
from brookmere.run.expressions.faults import explained
from brookmere.run.program_builder import Place, ProgramBuilder
from brookmere.run.wire.wire import Wire
from brookmere.serde import Serde
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode
from brookmere.topology.operators import Process
from brookmere.topology.python_code import is_fold
from brookmere.worker.aggregates import FoldCode, FoldFunction
from brookmere.worker.protocol.stage_code import Child, NodeCode, ProcessWork, StageCode, TypeCode

logger = logging.getLogger(__name__)

_MUCH_CODE = 4_000_000


@dataclass(slots=True)
class PythonNodes:
    """Adds Python nodes to the program that `builder` builds."""

    plan: Plan
    builder: ProgramBuilder
    wire: Wire
    numbers: Mapping[str, int]
    is_one_task: bool = False
    """All sub-topologies share one stream time."""
    stores: PythonStores = field(init=False)
    facets: Facets = field(init=False)
    reads: PythonReads = field(init=False)
    folds: Folds = field(init=False)
    _added: dict[int, list[tuple[ProcessorNode, NodeCode]]] = field(default_factory=dict)
    _reads_time: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.facets = Facets(self.plan.topology)
        self.stores = PythonStores(self.plan, self.builder, self.serde_type)
        self.folds = Folds(self.plan, self.builder, self.serde_type)
        self.reads = PythonReads(self.plan, self.builder, self.numbers, self.stores, self.facets)

    def add(self, node: ProcessorNode, at: Place, kind: Callable[[str], str]) -> None:
        """Add a node; `kind` returns how a store keeps its rows."""
        number, stage, parents = at.number, at.stage, at.parents
        facets = self.facets.of_parents(node.parents)
        key = as_key(facets[0].of(self.builder.key_type(parents[0])))
        value = facets[1].of(self.builder.value_type(parents[0]))
        if is_fold(node):
            with explained(f"node {node.name}", str(node.location) if node.location else None):
                kept = self.folds.add(node, at, kind, key, value)
            self.facets.record(node.name, facets[0], Facet(kept.made, kept.is_pickled))
            return
        into = Incoming(key, value, self.serde_type)
        worked = work_of(node, into)
        sent = (worked.key or key, worked.value or value)
        ticks = self._needs_ticks(node, worked)
        with explained(f"node {node.name}", str(node.location) if node.location else None):
            self.builder.python_node(
                at,
                worked.key.json if worked.key else None,
                worked.value.json if worked.value else None,
                node.operator.sends == "changes",
                ticks,
            )
            self.stores.add(node, number, stage, kind, key, sent[1])
        self.reads.add(node, stage)
        self.facets.record(node.name, *(Facet(kind.made, kind.is_pickled) for kind in sent))
        code = self._code(node, number, worked, (key, value), sent)
        self._added.setdefault(stage, []).append((node, code))

    def finish(self, last_per_batch: bool) -> dict[int, StageCode | FoldCode]:
        """Hand the code of all stages over, after the last node; return it by stage."""
        codes: dict[int, StageCode | FoldCode] = {}
        faults: list[Fault] = []
        for stage, added in self._added.items():
            codes[stage] = StageCode(
                stage,
                (*self.reads.of(stage), *(self._with_copies(code) for _, code in added)),
                self.stores.of(stage),
                self.plan.topics,
                self.plan.topology.application_id,
                last_per_batch and not any(self.builder.is_hurried(code.number) for _, code in added),
            )
            faults += self._hand_over(codes[stage], added)
        for stage, functions in self.folds.functions(last_per_batch).items():
            codes[stage] = FoldCode(stage, tuple(function for _, function in functions))
            faults += self._hand_over(codes[stage], functions)
        if faults:
            raise ExpressionError(faults)
        # What an earlier stage is called for comes before what a later one is called for.
        for stage, added in sorted(self._added.items()):
            self._move_time(stage, added)
        return codes

    def _hand_over(
        self, code: StageCode | FoldCode, added: Sequence[tuple[ProcessorNode, NodeCode | FoldFunction]]
    ) -> list[Fault]:
        """Give the builder the code of a stage; return what is wrong with it."""
        try:
            data = dumps(code)
        except Unpicklable as error:
            return _unpicklable(added) or [_fault(added[0][0], error)]
        self.builder.python_code(code.stage, data)
        if len(data) > _MUCH_CODE:
            logger.warning(
                "the Python code of %s has %.1f MB, which travel with every batch; "
                "what it holds can be loaded in open() or init() instead",
                ", ".join(dict.fromkeys(node.name for node, _ in added)),
                len(data) / 1e6,
            )
        return []

    def serde_type(self, serde: Serde) -> DataType:
        """Return the type that a serde reads."""
        reader = self.wire.reader(serde.for_topic(None, is_key=False), "serde", None)
        return _parse_datatype_json_string(str(reader.result().dataType().json()))

    def _code(
        self,
        node: ProcessorNode,
        number: int,
        worked: Worked,
        got: tuple[TypeCode, TypeCode],
        sent: tuple[TypeCode, TypeCode],
    ) -> NodeCode:
        return NodeCode(
            number,
            node.name,
            worked.work,
            *got,
            *sent,
            is_table=node.operator.takes == "changes",
            sends_table=node.operator.sends == "changes",
            children=self._children(node),
            stores=tuple(dict.fromkeys((*node.stores, *node.operator.read_stores))),
            moves_time=all(self._is_source(parent) for parent in node.parents),
            subtopology=self._subtopology(node),
            timeline=self._timeline(node),
        )

    def _children(self, node: Node) -> tuple[Child, ...]:
        stage_of = self.plan.stage_of()
        return tuple(
            Child(child.name, self.numbers[child.name], stage_of[child.name] == stage_of[node.name])
            for child in self._hearers(node)
        )

    def _with_copies(self, code: NodeCode) -> NodeCode:
        """Return the code of a node that also sends to the copies of its table in later stages, and first."""
        copies = [
            Child(f"copy {number}", int(number), False) for number in self.builder.copies_of(code.number)
        ]
        return replace(code, children=(*copies, *code.children)) if copies else code

    def _hearers(self, node: Node) -> list[Node]:
        return [
            n
            for n in self.plan.topology.nodes
            if not isinstance(n, SourceNode)
            and node.name in n.parents
            and not (isinstance(n, SinkNode) and (n.late or n.changelog_of is not None))
        ]

    def _subtopology(self, node: Node) -> int:
        parts = self.plan.topology.subtopologies
        return next((part.number for part in parts if node.name in part.nodes), 0)

    def _timeline(self, node: Node) -> int:
        return 0 if self.is_one_task else self._subtopology(node)

    def _is_source(self, name: str) -> bool:
        node = self.plan.topology.node(name)
        return isinstance(node, SourceNode) and not node.is_global

    def _needs_ticks(self, node: ProcessorNode, worked: Worked) -> bool:
        if not isinstance(worked.work, ProcessWork):
            return False
        if worked.work.reads_stream_time:
            self._reads_time.add(node.name)
        return worked.work.uses_wall_clock

    def _move_time(self, stage: int, added: list[tuple[ProcessorNode, NodeCode]]) -> None:
        """Have sources advance the stream time of a stage where their records alone do not.

        They do so before a record, if its results may reach the stage, which then see its time; and after it,
        if it has results elsewhere, which then precede the punctuations.
        """
        parts = {code.timeline for node, code in added if node.name in self._reads_time}
        stage_of = self.plan.stage_of()
        for source in self.plan.topology.nodes:
            if (
                not isinstance(source, SourceNode)
                or source.is_global
                or self._timeline(source) not in parts
                or stage_of[source.name] >= stage
            ):
                continue
            inside, is_elsewhere = self._ways(source, {node.name for node, _ in added})
            hearers = self._hearers(source)
            # What the only reader of a source gets moves its time.
            is_moved = len(hearers) == 1 and any(
                code.name == hearers[0].name and code.moves_time for _, code in added
            )
            number, timeline = self.numbers[source.name], self._timeline(source)
            if inside and not is_moved:
                self.builder.move_time(number, stage, timeline, False)
            # One record may send several through a repartition, and each of them is processed alone.
            if is_elsewhere or not inside or source.internal:
                self.builder.move_time(number, stage, timeline, True)

    def _ways(self, source: SourceNode, names: set[str]) -> tuple[bool, bool]:
        """Return whether records of a source come to some nodes, and to others not on the way to these."""
        inside = False
        passed: set[str] = set()
        waiting = [source.name]
        while waiting:
            for node in self._hearers(self.plan.topology.node(waiting.pop())):
                if node.name in names:
                    inside = True
                elif node.name not in passed:
                    passed.add(node.name)
                    waiting.append(node.name)
        return inside, bool(passed - self._above(names))

    def _above(self, names: set[str]) -> set[str]:
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            node = self.plan.topology.node(waiting.pop())
            parents = () if isinstance(node, SourceNode) else node.parents
            waiting += [name for name in parents if name not in found]
            found.update(parents)
        return found


def _unpicklable(added: Sequence[tuple[ProcessorNode, NodeCode | FoldFunction]]) -> list[Fault]:
    faults: dict[str, Fault] = {}
    for node, code in added:
        try:
            dumps(code)
        except Unpicklable as error:
            faults.setdefault(node.name, _fault(node, error))
    return list(faults.values())


def _fault(node: ProcessorNode, error: Unpicklable) -> Fault:
    places = [function.location for function in node.operator.python_functions]
    if isinstance(node.operator, Process):
        places.append(node.operator.location)
    where = next(iter(places), node.location)
    return Fault(
        f"The Python code of {node.name} cannot be sent to its worker: {error}",
        str(where) if where else None,
        "Make what cannot be sent where it is used: in open() of a class, in init() of a processor, or in "
        "the function itself",
    )

"""Assigns each node of a topology to a stage."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeGuard

from brookmere.errors import UnsupportedError
from brookmere.plan.python_faults import kernel_between
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, Topology
from brookmere.topology.python_code import is_fold, is_python, takes_many

Edge = tuple[str, str]

_KINDS = 3
"""Stages take turns during placement: kernel, Python nodes, aggregates with Python functions."""

_STATE = _KINDS
"""The first kernel stage that may have state."""


def place(topology: Topology) -> dict[str, int]:
    """Return the stage of every node.

    Python nodes have stages of their own, and so do aggregates with Python functions.
    What receives a repartition is in a later stage than its senders; other nodes are in the
    stage of their parents, except that state needs an exchange before it, and that a kernel node and a
    Python node never share a stage. Processors that share a store are in the same stage.
    A Python processor is behind the repartitions that its task reads: their records advance its stream time.
    A processor that looks up rows is in the stage of the table, which may move the table to a later stage.
    Where that would never end, because the lookups depend on the table through a repartition or through
    Python, the processor is in a later stage than the table and reads a copy.

    Raises:
        UnsupportedError: processors that share a store follow each other through a repartition.
        TopologyError: Python processors that share a store have a kernel node between them.
    """
    rules = _Rules(topology)
    rules.drop_impossible()
    stages = rules.solve()
    for table, lookers in rules.global_lookers.items():
        # A Python node reads a copy, in a later stage than the table.
        stages[table] = min((stages[name] // _KINDS * _KINDS for name in lookers), default=_STATE)
    used = {number: position for position, number in enumerate(sorted({0, *stages.values()}))}
    return {name: used[number] for name, number in stages.items()}


@dataclass(slots=True)
class _Rules:
    """Which node cannot be in an earlier stage than which other node."""

    topology: Topology
    python: set[str] = field(default_factory=set)
    many: set[str] = field(default_factory=set)
    """The Python nodes that handle many records at once."""
    folds: set[str] = field(default_factory=set)
    """Aggregates with Python functions, and the sinks of their changelogs. They have stages of their own."""
    repartitions: list[Edge] = field(default_factory=list)
    """The second node is in a later stage than the first."""
    follows: set[Edge] = field(default_factory=set)
    """The second node is in the same stage as the first, or in a later one."""
    looks: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """By node and store, the nodes that keep the store in which the node looks rows up. They follow it."""
    earliest: dict[str, int] = field(default_factory=dict)
    global_lookers: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.python = {n.name for n in self.topology.nodes if is_python(n)}
        # The sink of a changelog is next to the node that keeps the store.
        self.python |= {n.name for n in self.topology.nodes if _writes_log(n) and n.parents[0] in self.python}
        self.folds = {n.name for n in self.topology.nodes if is_fold(n)}
        self.folds |= {n.name for n in self.topology.nodes if _writes_log(n) and n.parents[0] in self.folds}
        self.many = {n.name for n in self.topology.nodes if takes_many(n)}
        processors = [n for n in self.topology.nodes if isinstance(n, ProcessorNode)]
        keepers: dict[str, list[str]] = {}
        for node in processors:
            for store in node.operator.kept_stores:
                keepers.setdefault(store, []).append(node.name)
        shared = {store.name for store in self.topology.stores if store.is_global}
        self.global_lookers = {name: [] for store in sorted(shared) for name in keepers.get(store, ())}
        for together in keepers.values():
            self.follows |= set(zip(together, [*together[1:], together[0]], strict=True))
        for each in self.topology.nodes:
            if not isinstance(each, SourceNode):
                self.follows |= {(parent, each.name) for parent in each.parents}
        for node in processors:
            self._add_look(node, keepers, shared)
            needs_task = bool(node.stores) or node.operator.lookup_table is not None
            self.earliest[node.name] = _STATE if needs_task and node.name not in self.python else 0
        self._add_repartitions()
        self._add_times()

    def _add_look(self, node: ProcessorNode, keepers: dict[str, list[str]], shared: set[str]) -> None:
        self._add_reads(node, node.operator.read_stores, keepers)
        table = node.operator.lookup_table
        if table is None:
            return
        if table in self.global_lookers:
            self.global_lookers[table].append(node.name)
            return
        self.follows.add((table, node.name))
        for store in node.stores:
            if store not in node.operator.kept_stores and store not in shared:
                self.looks[node.name, store] = keepers.get(store, [])
                self.follows |= {(keeper, node.name) for keeper in keepers.get(store, ())}

    def _add_reads(self, node: ProcessorNode, reads: Iterable[str], keepers: dict[str, list[str]]) -> None:
        for keeper in (name for store in reads for name in keepers.get(store, ())):
            self.follows.add((keeper, node.name))
            if keeper in self.global_lookers:
                self.global_lookers[keeper].append(node.name)
                self.earliest[keeper] = _STATE

    def _add_repartitions(self) -> None:
        senders: dict[str, list[str]] = {}
        for node in self.topology.nodes:
            if isinstance(node, SinkNode) and node.internal and isinstance(node.topic, str):
                senders.setdefault(node.topic, []).append(node.name)
        for node in self.topology.nodes:
            if isinstance(node, SourceNode) and node.internal:
                above = [name for topic in node.topics for name in senders.get(topic, ())]
                self.repartitions += [(name, node.name) for name in above]

    def _add_times(self) -> None:
        """Have processors follow the repartitions that their tasks read: these records advance stream time.

        A processor that sends to such a repartition itself cannot follow it.
        """
        internal = {n.name for n in self.topology.nodes if isinstance(n, SourceNode) and n.internal}
        processors = {
            n.name for n in self.topology.nodes if isinstance(n, ProcessorNode) and n.operator.has_timers
        }
        edges = [
            (source, name)
            for part in self.topology.subtopologies
            for source in part.nodes
            for name in part.nodes
            if source in internal and name in processors
        ]
        back = [(look[0], keeper) for look, keepers in self.looks.items() for keeper in keepers]
        for edge in edges:
            reach = _reach([*self.follows, *self.repartitions, *back, edge])
            if edge[0] not in reach[edge[1]]:
                self.follows.add(edge)

    def leaps(self) -> list[Edge]:
        """Return the edges to a later stage: repartitions, and where Python begins or ends."""
        return [*self.repartitions, *(edge for edge in sorted(self.follows) if self._is_leap(edge))]

    def _is_leap(self, edge: Edge) -> bool:
        above, below = (name in self.python for name in edge)
        if above != below or (edge[0] in self.folds) != (edge[1] in self.folds):
            return True
        return edge[0] != edge[1] and bool(self.many & set(edge))

    def drop_impossible(self) -> None:
        """Let tables stay where they are if moving them to their lookups would never end."""
        forward = _reach([*self.follows, *self.repartitions])
        leaps = self.leaps()
        for look, keepers in list(self.looks.items()):
            if any(
                above in forward[keeper] and look[0] in forward[below]
                for keeper in keepers
                for above, below in leaps
            ):
                del self.looks[look]
        while (loops := self._loops(leaps)) is not None:
            if not loops:
                self._refuse_python_loops(leaps)
                raise UnsupportedError(
                    "Processors that share a store follow each other through a repartition, "
                    "which one pass over a batch cannot do. Write to a topic in between, and read it in a "
                    "second program."
                )
            del self.looks[loops[-1]]

    def _refuse_python_loops(self, leaps: list[Edge]) -> None:
        reach = _reach([*self.follows, *self.repartitions])
        if not any(sink in reach[source] for sink, source in self.repartitions):
            raise kernel_between(self.topology, [edge for edge in leaps if edge[0] in reach[edge[1]]])

    def _loops(self, leaps: list[Edge]) -> list[tuple[str, str]] | None:
        """Return the looks that make a leap follow itself; None if there is no such leap."""
        back = [(look[0], keeper) for look, keepers in self.looks.items() for keeper in keepers]
        reach = _reach([*self.follows, *self.repartitions, *back])
        looped = [(sink, source) for sink, source in leaps if sink in reach[source]]
        if not looped:
            return None
        return [
            look
            for look, keepers in self.looks.items()
            if any(
                look[0] in reach[source] and sink in reach[keeper]
                for keeper in keepers
                for sink, source in looped
            )
        ]

    def solve(self) -> dict[str, int]:
        """Return the earliest stages that satisfy all rules."""
        stages = {n.name: self._next(n.name, self.earliest.get(n.name, 0)) for n in self.topology.nodes}
        back = [(look[0], keeper) for look, keepers in self.looks.items() for keeper in keepers]
        edges = [(a, b, 0) for a, b in [*self.follows, *back]] + [(a, b, 1) for a, b in self.leaps()]
        moved = True
        while moved:
            moved = False
            for above, below, distance in edges:
                needed = self._next(below, stages[above] + distance)
                if stages[below] < needed:
                    stages[below] = needed
                    moved = True
        return stages

    def _next(self, node: str, number: int) -> int:
        """Return the number of the first stage for such a node from `number` on."""
        kind = 2 if node in self.folds else 1 if node in self.python else 0
        return number + (kind - number) % _KINDS


def _writes_log(node: Node) -> TypeGuard[SinkNode]:
    return isinstance(node, SinkNode) and node.changelog_of is not None


def _reach(edges: Iterable[Edge]) -> dict[str, set[str]]:
    """Return, for every node, those that can be reached from it; each reaches itself."""
    after: dict[str, list[str]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
        after.setdefault(b, [])
    reached: dict[str, set[str]] = {}
    for start in after:
        found = {start}
        waiting = [start]
        while waiting:
            for name in after[waiting.pop()]:
                if name not in found:
                    found.add(name)
                    waiting.append(name)
        reached[start] = found
    return reached

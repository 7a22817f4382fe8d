"""Turns a topology into the number of the stage of each node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from brookmere.errors import UnsupportedError
from brookmere.topology.join_operators import (
    GlobalJoin,
    ResponseJoin,
    StreamTableJoin,
    SubscriptionJoin,
    TableJoin,
)
from brookmere.topology.nodes import ProcessorNode, SinkNode, SourceNode, Topology

Edge = tuple[str, str]


def place(topology: Topology) -> dict[str, int]:
    """Return the stage of every node.

    A repartition leads to a later stage than that of its senders; other records stay in the stage of their
    parents, except that state needs an exchange before it. Processors that keep a store together share its
    stage. One that looks into a table stands where the table is, which may move the table to a later stage.
    Where that would never end, because what it looks for depends on the table through a repartition, it
    stands in a later stage than the table and looks into a copy.

    Raises:
        UnsupportedError: processors that keep a store together follow each other through a repartition.
    """
    rules = _Rules(topology)
    rules.drop_impossible()
    stages = rules.solve()
    for table, lookers in rules.global_lookers.items():
        stages[table] = min((stages[name] for name in lookers), default=1)
    return stages


def looked_into(node: ProcessorNode) -> str | None:
    """Return the name of the node whose table a processor looks into, if it does."""
    match node.operator:
        case StreamTableJoin(table=table) | GlobalJoin(table=table):
            return table
        case TableJoin(other=other):
            return other
        case SubscriptionJoin(right=right):
            return right
        case ResponseJoin(left=left):
            return left
    return None


def kept(node: ProcessorNode) -> set[str]:
    """Return the stores that a processor keeps, without those it only looks into."""
    if looked_into(node) is None:
        return set(node.stores)
    own = getattr(node.operator, "buffer", None)
    return {own} if own else set()


@dataclass(slots=True)
class _Rules:
    """Which node cannot stand in an earlier stage than which other node."""

    topology: Topology
    repartitions: list[Edge] = field(default_factory=list)
    """The second node stands in a later stage than the first."""
    follows: set[Edge] = field(default_factory=set)
    """The second node stands in the same stage as the first, or in a later one."""
    looks: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """By node and store, those who keep the store that the node looks into. They follow it."""
    earliest: dict[str, int] = field(default_factory=dict)
    global_lookers: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        processors = [n for n in self.topology.nodes if isinstance(n, ProcessorNode)]
        keepers: dict[str, list[str]] = {}
        for node in processors:
            for store in kept(node):
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
            self.earliest[node.name] = 1 if node.stores or looked_into(node) else 0
        self._add_repartitions()

    def _add_look(self, node: ProcessorNode, keepers: dict[str, list[str]], shared: set[str]) -> None:
        table = looked_into(node)
        if table is None:
            return
        if table in self.global_lookers:
            self.global_lookers[table].append(node.name)
            return
        self.follows.add((table, node.name))
        for store in node.stores:
            if store not in kept(node) and store not in shared:
                self.looks[node.name, store] = keepers.get(store, [])
                self.follows |= {(keeper, node.name) for keeper in keepers.get(store, ())}

    def _add_repartitions(self) -> None:
        senders: dict[str, list[str]] = {}
        for node in self.topology.nodes:
            if isinstance(node, SinkNode) and node.internal and isinstance(node.topic, str):
                senders.setdefault(node.topic, []).append(node.name)
        for node in self.topology.nodes:
            if isinstance(node, SourceNode) and node.internal:
                above = [name for topic in node.topics for name in senders.get(topic, ())]
                self.repartitions += [(name, node.name) for name in above]

    def drop_impossible(self) -> None:
        """Give up that a table moves to those who look into it, where the moving would never end."""
        forward = _reach([*self.follows, *self.repartitions])
        for look, keepers in list(self.looks.items()):
            if any(
                sink in forward[keeper] and look[0] in forward[source]
                for keeper in keepers
                for sink, source in self.repartitions
            ):
                del self.looks[look]
        while (loops := self._loops()) is not None:
            if not loops:
                raise UnsupportedError(
                    "Processors that keep a store together follow each other through a repartition, "
                    "which one pass over a batch cannot do. Write to a topic in between, and read it in a "
                    "second program."
                )
            del self.looks[loops[-1]]

    def _loops(self) -> list[tuple[str, str]] | None:
        """Return the looks that make a repartition follow itself; None if there is no such repartition."""
        back = [(look[0], keeper) for look, keepers in self.looks.items() for keeper in keepers]
        reach = _reach([*self.follows, *self.repartitions, *back])
        looped = [(sink, source) for sink, source in self.repartitions if sink in reach[source]]
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
        """Return the earliest stages that fit all rules."""
        stages = {node.name: self.earliest.get(node.name, 0) for node in self.topology.nodes}
        back = [(look[0], keeper) for look, keepers in self.looks.items() for keeper in keepers]
        edges = [(a, b, 0) for a, b in [*self.follows, *back]] + [(a, b, 1) for a, b in self.repartitions]
        moved = True
        while moved:
            moved = False
            for above, below, distance in edges:
                if stages[below] < stages[above] + distance:
                    stages[below] = stages[above] + distance
                    moved = True
        return stages


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

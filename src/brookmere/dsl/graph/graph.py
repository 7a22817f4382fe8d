"""The program as a graph of steps: the handles add to it, the rules rewrite it, the writer reads it."""

from __future__ import annotations

import copy
import heapq
from collections.abc import Callable
from typing import get_args

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.graph.steps import RepartitionStep, Root, Step
from brookmere.dsl.processors.known_stores import KnownStores
from brookmere.errors import Fault
from brookmere.topology.assembly import Parts
from brookmere.topology.corrections import Correction
from brookmere.topology.function import Location, here
from brookmere.topology.node_names import Names
from brookmere.topology.nodes import Rewrite, Store, StoreType
from brookmere.topology.validation import check_name

Rule = Callable[["Graph"], "Graph"]


class Graph:
    """Steps under a root, the name counter, and the faults found so far."""

    def __init__(self, corrections: frozenset[Correction] = frozenset()) -> None:
        self.corrections = corrections
        self.names = Names()
        self.faults: list[Fault] = []
        self.rewrites: list[Rewrite] = []
        """What the optimization rules have changed."""
        self.root: Step = Root(name="root", location=Location("", 0))
        self.copartitioned: list[tuple[str, ...]] = []
        """Groups of steps, by name, whose topics must have the same number of partitions."""
        self.key_changers: dict[Step, dict[RepartitionStep, None]] = {}
        """For each key-changing step, the repartitions that it causes."""
        self.merges: dict[Step, None] = {}
        self.joined: dict[Step, RepartitionStep] = {}
        """For each re-keyed step that is joined, the repartition after it."""
        self.stores = KnownStores()
        """The stores of processors."""
        self._priority = 0

    def add(self, step: Step, *parents: Step) -> None:
        """Link `step` below its parents. Adding a step again moves it to the end of the order."""
        for parent in parents:
            parent.add_child(step)
            step.priority = self._priority
            self._priority += 1
            self._remember(step)

    def _remember(self, step: Step) -> None:
        if step.key_changing:
            self.key_changers[step] = {}
        elif isinstance(step, RepartitionStep) and step.optimizable:
            changer = _key_changer_above(step)
            if changer is not None:
                self.key_changers[changer][step] = None
        elif step.merging:
            self.merges[step] = None

    def corrects(self, name: Correction) -> bool:
        """Return whether the program requests this correction of Kafka Streams."""
        return name in self.corrections

    def fault(self, what: str, remedy: str) -> None:
        """Record a fault at the user's line for build() to report."""
        self.faults.append(Fault(what, str(here()), remedy))

    def rewrote(self, rule: str, what: str) -> None:
        """Record what a rule has changed, for the explanation of the plan."""
        self.rewrites.append(Rewrite(rule, what))

    def check_name(self, kind: str, name: str | None) -> None:
        """Record a fault if a name given by the user is invalid."""
        if not isinstance(name, str | None):
            refuse(f"The {kind} name must be text, found {name!r}", "Pass a name or None")
        fault = None if name is None else check_name(kind, name, here())
        if fault is not None:
            self.faults.append(fault)

    def name(self, given: str | None, prefix: str) -> str:
        """Return the name of a new operator."""
        self.check_name("operator", given)
        return self.names.choose(given, prefix)

    def store(self, given: str | None, prefix: str, store_type: StoreType) -> Store:
        """Return a store with the given name, or with a generated one."""
        self.check_store(given, store_type)
        return Store(self.names.store(given, prefix), store_type, queryable=given is not None)

    def check_store(self, name: str | None, store_type: StoreType) -> None:
        """Record the faults of a store's name and type."""
        self.check_name("store", name)
        known = get_args(StoreType)
        if store_type not in known:
            self.fault(f"There is no store type {store_type!r}", f"Use one of {', '.join(known)}")

    def same(self, other: Graph, what: str) -> bool:
        """Return whether another handle belongs to this program; record a fault if not."""
        if other is not self:
            self.fault(f"{what} of another StreamsBuilder", "Use one builder for both")
        return other is self

    def copy(self) -> Graph:
        """Return a copy that rules can change without affecting this graph."""
        twins: dict[Step, Step] = {step: copy.copy(step) for step in self.steps()}
        for twin in twins.values():
            twin.parents = {twins[parent]: None for parent in twin.parents}
            twin.children = {twins[child]: None for child in twin.children}
        other = copy.copy(self)
        other.names = copy.copy(self.names)
        other.faults = list(self.faults)
        other.rewrites = list(self.rewrites)
        other.copartitioned = list(self.copartitioned)
        other.root = twins[self.root]
        other.merges = {twins[step]: None for step in self.merges}
        other.key_changers = {}
        for changer, steps in self.key_changers.items():
            found = (twins[step] for step in steps)
            other.key_changers[twins[changer]] = {s: None for s in found if isinstance(s, RepartitionStep)}
        return other

    def steps(self) -> list[Step]:
        """Return every step once, in the order they were added."""
        seen: dict[Step, None] = {}
        waiting = [self.root]
        while waiting:
            step = waiting.pop()
            if step not in seen:
                seen[step] = None
                waiting.extend(step.children)
        return sorted(seen, key=lambda step: step.priority)

    def rename_copartitioned(self, old: str, new: str) -> None:
        """Replace step `old` by step `new` in the groups of co-partitioned steps."""
        self.copartitioned = [tuple(new if name == old else name for name in g) for g in self.copartitioned]


def nearest_above(step: Step, matches: Callable[[Step], bool]) -> Step | None:
    """Return the first match among `step` and its ancestors, parents in order, depth first."""
    seen: set[Step] = set()
    waiting = [step]
    while waiting:
        candidate = waiting.pop()
        if candidate in seen:
            continue
        seen.add(candidate)
        if matches(candidate):
            return candidate
        waiting.extend(reversed(candidate.parents))
    return None


def _key_changer_above(step: Step) -> Step | None:
    changed = nearest_above(step, lambda s: s.key_changing or s.value_changing)
    changer = nearest_above(step, lambda s: s.key_changing)
    # With a value change in between, one early repartition could not carry the values of all branches.
    return changer if changer is changed else None


def write(graph: Graph) -> Parts:
    """Write each step after all its parents; steps that were added earlier come first."""
    parts = Parts(copartitioned=graph.copartitioned)
    written: set[Step] = set()
    ready: list[tuple[int, int, Step]] = [(0, 0, graph.root)]
    offered = 0
    while ready:
        _, _, step = heapq.heappop(ready)
        if step in written:
            continue
        step.write(parts)
        written.add(step)
        for child in step.children:
            if written.issuperset(child.parents):
                offered += 1
                heapq.heappush(ready, (child.priority, offered, child))
    return parts

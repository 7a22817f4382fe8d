"""The program as a graph of steps: what the handles add to, and what the rules and the writer read."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import get_args

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.graph.steps import RepartitionStep, Root, Step
from brookmere.dsl.processors.known_stores import KnownStores
from brookmere.errors import Fault
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
        """What the optimizing rules have changed."""
        self.root: Step = Root(name="root", location=Location("", 0))
        self.copartitioned: list[tuple[str, ...]] = []
        """Groups of steps, by name, whose topics must have equal numbers of partitions."""
        self.key_changers: dict[Step, dict[RepartitionStep, None]] = {}
        """For each step that changes keys, the repartitions it is the reason for."""
        self.merges: dict[Step, None] = {}
        self.joined: dict[Step, RepartitionStep] = {}
        """For each re-keyed step that was joined, the repartition behind it."""
        self.stores = KnownStores()
        """The stores of processors."""
        self._priority = 0

    def add(self, step: Step, *parents: Step) -> None:
        """Link `step` below its parents. Adding a step again moves it to the end of the line."""
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
        """Say whether the program asks for this correction of Kafka Streams."""
        return name in self.corrections

    def fault(self, what: str, remedy: str) -> None:
        """Note a fault at the user's line, to be reported by build()."""
        self.faults.append(Fault(what, str(here()), remedy))

    def rewrote(self, rule: str, what: str) -> None:
        """Note what a rule has changed, for those who ask for the plan."""
        self.rewrites.append(Rewrite(rule, what))

    def check_name(self, kind: str, name: str | None) -> None:
        """Note a fault if a name that the user gave is illegal."""
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
        """Return a store of the given name, or of a generated one."""
        self.check_store(given, store_type)
        return Store(self.names.store(given, prefix), store_type, queryable=given is not None)

    def check_store(self, name: str | None, store_type: StoreType) -> None:
        """Note the faults of a store's name and type."""
        self.check_name("store", name)
        known = get_args(StoreType)
        if store_type not in known:
            self.fault(f"There is no store type {store_type!r}", f"Use one of {', '.join(known)}")

    def same(self, other: Graph, what: str) -> bool:
        """Say whether another handle belongs to this program; note a fault if not."""
        if other is not self:
            self.fault(f"{what} of another StreamsBuilder", "Use one builder for both")
        return other is self

    def copy(self) -> Graph:
        """Return an equal graph that rules can change while this one stays as it is."""
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
        """Return every step once, in the order in which they were added."""
        seen: dict[Step, None] = {}
        waiting = [self.root]
        while waiting:
            step = waiting.pop()
            if step not in seen:
                seen[step] = None
                waiting.extend(step.children)
        return sorted(seen, key=lambda step: step.priority)

    def rename_copartitioned(self, old: str, new: str) -> None:
        """Let step `new` take the place of step `old` in the groups of co-partitioned steps."""
        self.copartitioned = [tuple(new if name == old else name for name in g) for g in self.copartitioned]


def nearest_above(step: Step, matches: Callable[[Step], bool]) -> Step | None:
    """Return the first match among `step` and the steps above it, parents in order, depth first."""
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
    # With a value change in between, one early repartition could not carry the values of all.
    return changer if changer is changed else None

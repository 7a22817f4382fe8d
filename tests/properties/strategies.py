"""Draws programs: a draft grows call by call, on handles that are there already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.properties import words
from tests.properties.programs import Program, Step

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]

_STREAM_OPS = (
    "filter", "map_values", "select_key", "group", "to_table", "merge", "filter_not", "map",
    "flat_map_values", "flat_map", "split", "repartition", "through", "cogroup",
)  # fmt: skip
_TABLE_OPS = ("table_filter", "table_map_values", "group_table", "to_stream", "transform_values")
# Behind these calls several tasks of a stage have records that one input caused, and send them on.
FANS = (
    ("flat_map", "group", "to_stream", "group"),
    ("to_table", "group_table", "to_stream", "group"),
)
# Programs begin with calls that rarely meet by chance, as far as there is something to call them on.
_BEGINNINGS: tuple[tuple[str, ...], ...] = (
    ("group",),
    (),
    *FANS,
    ("cogroup", "group_table"),
    ("split", "select_key", "merge", "group"),
    ("map", "through", "group"),
)
_OFTEN = ("group", "group", "group_table", "group_table", "to_stream", "cogroup")


@dataclass(frozen=True)
class Limits:
    """What generated programs may do."""

    ops: tuple[str, ...] = (*_STREAM_OPS, *_TABLE_OPS)
    beginnings: tuple[tuple[str, ...], ...] = _BEGINNINGS
    most_steps: int = 5
    null_keys: bool = True
    """Whether functions may give records a null key."""
    overlapping: bool = True
    """Whether a merge may get the same record on two ways."""
    numbered: bool = True
    """Whether repartitions and topics may have different numbers of partitions."""
    shared_topics: bool = True
    """Whether several sinks may write to one topic."""

    def without(self, *ops: str) -> Limits:
        """Return the same limits, without these calls."""
        return replace(self, ops=tuple(op for op in self.ops if op not in ops))


ANYTHING = Limits()


@dataclass(frozen=True)
class _Handle:
    name: str
    world: str = ""
    """The topic between, if there is one. A record leaves it in a batch of its own, so its order among
    records that did not go there depends on the cut, as it does on Kafka: two worlds never meet."""
    roots: frozenset[str] = frozenset()
    """From where its records come: topic, then the branches of splits."""


@dataclass
class _Draft:
    """A program that grows call by call."""

    draw: Draw
    limits: Limits
    numbered: bool
    steps: list[Step] = field(default_factory=list)
    streams: list[_Handle] = field(default_factory=list)
    tables: list[_Handle] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    names: int = 0

    def pick(self, choices: Sequence[T]) -> T:
        chosen: T = self.draw(st.sampled_from(choices))
        return chosen

    def key(self) -> str:
        return self.pick(list(words.KEYS) if self.limits.null_keys else words.NEVER_NULL)

    def stored(self) -> str | None:
        return self.pick([None, f"store{self.names}"])

    def stream(self) -> _Handle:
        return self._newest(self.streams)

    def table(self) -> _Handle:
        return self._newest(self.tables)

    def _newest(self, handles: list[_Handle]) -> _Handle:
        # Chains are more telling than bushes.
        return self.pick([*handles[-1:] * len(handles), *handles])

    def add(
        self,
        op: str,
        *on: _Handle,
        args: Sequence[Any] = (),
        store: str | None = None,
        streams: int = 0,
        tables: int = 0,
    ) -> list[_Handle]:
        """Add a call and as many new handles as it gives."""
        roots = frozenset(root for handle in on for root in handle.roots)
        made = []
        for letter in "s" * streams + "t" * tables:
            made.append(_Handle(f"{letter}{self.names}", on[0].world if on else "", roots))
            self.names += 1
        self.steps.append(
            Step(op, tuple(h.name for h in made), tuple(h.name for h in on), tuple(args), store)
        )
        self.read.update(handle.name for handle in on)
        self.streams += made[:streams]
        self.tables += made[streams:]
        return made

    def add_sources(self) -> None:
        topics = self.pick([["in1"], ["in1", "in2"], ["in1", "in2", "in3"]])
        while topics:
            if len(topics) > 1 and self.pick([False, True]):
                read, topics = topics[:2], topics[2:]
            else:
                read, topics = topics[:1], topics[1:]
            if len(read) == 1 and self.pick(["stream", "stream", "table"]) == "table":
                self._source("table", read, store=self.stored())
            else:
                for _ in range(self.pick([1, 1, 2])):
                    self._source("stream", read)

    def _source(self, op: str, topics: list[str], store: str | None = None) -> None:
        of = self.streams if op == "stream" else self.tables
        self.add(op, args=[tuple(topics)], store=store, **{f"{op}s": 1})
        of[-1] = replace(of[-1], roots=frozenset(topics))

    def grow(self, *wanted: str) -> None:
        """Add one of the wanted calls, or else any."""
        ops = [op for op in wanted or (*self.limits.ops, *_OFTEN) if op in self.limits.ops]
        ops = [op for op in ops if (self.streams if op in _STREAM_OPS else self.tables)]
        if self.numbered:
            # What is grouped together must have equal counts, so only programs with one count do it.
            ops = [op for op in ops if op != "cogroup"]
        if ops:
            getattr(self, f"_{self.pick(ops)}")()

    # Calls on streams

    def _filter(self) -> None:
        self.add("filter", self.stream(), args=[self.pick(list(words.TESTS))], streams=1)

    def _filter_not(self) -> None:
        self.add("filter_not", self.stream(), args=[self.pick(list(words.TESTS))], streams=1)

    def _map(self) -> None:
        self.add("map", self.stream(), args=[self.key(), self.pick(list(words.VALUES))], streams=1)

    def _map_values(self) -> None:
        self.add("map_values", self.stream(), args=[self.pick(list(words.VALUES))], streams=1)

    def _flat_map(self) -> None:
        names = list(words.FLAT_PAIRS)
        self.add(
            "flat_map",
            self.stream(),
            args=[self.pick(names if self.limits.null_keys else names[:1])],
            streams=1,
        )

    def _flat_map_values(self) -> None:
        self.add("flat_map_values", self.stream(), args=[self.pick(list(words.FLAT_VALUES))], streams=1)

    def _select_key(self) -> None:
        self.add("select_key", self.stream(), args=[self.key()], streams=1)

    def _merge(self) -> None:
        first = self.stream()
        others = [h for h in self.streams if h.world == first.world and h != first]
        others = [h for h in others if self.limits.overlapping or _disjoint(first, h)]
        if others:
            self.add("merge", first, self.pick(others), streams=1)

    def _split(self) -> None:
        tests = self.draw(st.lists(st.sampled_from(list(words.TESTS)), min_size=1, max_size=2, unique=True))
        count = len(tests) + self.pick([1, 0])
        branches = self.add("split", self.stream(), args=tests, streams=count)
        for place, branch in enumerate(branches):
            roots = frozenset(f"{root}/{branches[0].name}.{place}" for root in branch.roots)
            self.streams[self.streams.index(branch)] = replace(branch, roots=roots)

    def _repartition(self) -> None:
        self.add(
            "repartition", self.stream(), args=[self.pick([1, 2, 3])] if self.numbered else [], streams=1
        )

    def _through(self) -> None:
        topic = f"between{self.names}"
        made = self.add("through", self.pick([*self.streams, *self.tables]), args=[topic], streams=1)[0]
        self.streams[-1] = replace(made, world=topic, roots=frozenset([topic]))

    def _to_table(self) -> None:
        self.add("to_table", self.stream(), store=self.stored(), tables=1)

    def _group(self) -> None:
        key = self.pick([None, self.key()])
        folds = [self._fold() for _ in range(self.pick([1, 1, 2]))]
        self.add("group", self.stream(), args=[key, *folds], store=self.stored(), tables=len(folds))

    def _fold(self) -> tuple[str, ...]:
        fold = self.pick(list(words.FOLDS))
        short = ("agg", *self.shorts(list(words.SHORTS)))
        return self.pick([("count",), ("reduce", fold), ("aggregate", "i", fold), short])

    def shorts(self, names: Sequence[str]) -> list[str]:
        chosen: list[str] = self.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
        return chosen

    def _cogroup(self) -> None:
        first = self.stream()
        others = [h for h in self.streams if h.world == first.world]
        others = [h for h in others if self.limits.overlapping or _disjoint(first, h)]
        on = [first, self.pick(others)] if others else [first]
        parts = [(self.pick([None, self.key()]), self.pick(list(words.FOLDS))) for _ in on]
        self.add("cogroup", *on, args=["i", *parts], store=self.stored(), tables=1)

    # Calls on tables

    def _table_filter(self) -> None:
        op, test = self.pick(["filter", "filter_not"]), self.pick(list(words.TESTS))
        self.add(op, self.table(), args=[test], store=self.stored(), tables=1)

    def _table_map_values(self) -> None:
        self.add(
            "map_values", self.table(), args=[self.pick(list(words.VALUES))], store=self.stored(), tables=1
        )

    def _transform_values(self) -> None:
        value = self.pick(list(words.VALUES))
        self.add("transform_values", self.table(), args=[value], store=self.stored(), tables=1)

    def _to_stream(self) -> None:
        self.add("to_stream", self.table(), args=self.pick([[], [self.key()]]), streams=1)

    def _group_table(self) -> None:
        add, undo = self.pick(list(words.FOLDS)), self.pick(list(words.UNDOES))
        short = ("agg", *self.shorts(words.UNDOABLE))
        fold = self.pick([("count",), ("reduce", add, undo), ("aggregate", "i", add, undo), short])
        args = [self.key(), self.pick(list(words.VALUES)), fold]
        self.add("group_table", self.table(), args=args, store=self.stored(), tables=1)

    def end(self) -> Program:
        """Write what nobody reads, and some of the rest, to topics."""
        shared = self.limits.shared_topics and self.pick([False, False, True])
        for handle in [*self.streams, *self.tables]:
            if handle.name in self.read and not self.pick([False, False, True]):
                continue
            topic = f"out-{handle.name}"
            # Handles of two worlds do not meet in a topic, either.
            if shared and not handle.world:
                topic = self.pick(["out", topic, ""])
            self.add("to" if topic else "route", handle, args=[topic or next(iter(words.TOPICS))])
        return Program(tuple(self.steps))


def _disjoint(one: _Handle, other: _Handle) -> bool:
    return all(_apart(a.split("/"), b.split("/")) for a in one.roots for b in other.roots)


def _apart(one: list[str], other: list[str]) -> bool:
    for here, there in zip(one, other, strict=False):
        if here != there:
            # Different topics, or different branches of one split; branches of two splits may overlap.
            return "." not in here or here.split(".")[0] == there.split(".")[0]
    return False


@st.composite
def programs(draw: Draw, limits: Limits = ANYTHING) -> Program:
    """Draw a program."""
    draft = _Draft(draw, limits, numbered=limits.numbered and draw(st.booleans()))
    draft.add_sources()
    for op in draw(st.sampled_from(limits.beginnings)):
        draft.grow(op)
    for _ in range(draw(st.integers(1, limits.most_steps))):
        draft.grow()
    return draft.end()

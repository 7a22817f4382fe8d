"""Describes generated programs as data that prints like code, and turns them into topologies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from pyspark.sql import functions as F

import brookmere as bm
from tests.properties import python_words, words


class _Printer(Protocol):
    def text(self, text: str) -> None: ...


@dataclass(frozen=True)
class Step:
    """One call: `outs` are the handles it gives, `on` those it needs, `args` mostly names of functions."""

    op: str
    outs: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    args: tuple[Any, ...] = ()
    store: str | None = None

    def __str__(self) -> str:
        given = [*self.on[1:], *(repr(arg) for arg in self.args)]
        given += [] if self.store is None else [f"store={self.store!r}"]
        call = f"{self.on[0] if self.on else 'app'}.{self.op}({', '.join(given)})"
        return f"{', '.join(self.outs)} = {call}" if self.outs else call


@dataclass(frozen=True)
class Program:
    """A program: its steps in order."""

    steps: tuple[Step, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The topics that a test feeds."""
        reading = (step for step in self.steps if step.op in ("stream", "table"))
        return tuple(dict.fromkeys(topic for step in reading for topic in step.args[0]))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The topics that are written."""
        topics = [step.args[0] for step in self.steps if step.op in ("to", "through")]
        routed = words.ROUTED if any(step.op == "route" for step in self.steps) else ()
        return tuple(dict.fromkeys([*topics, *routed]))

    def has(self, *ops: str) -> bool:
        """Tell whether one of these calls occurs."""
        return any(step.op in ops for step in self.steps)

    def __repr__(self) -> str:
        return "\n".join(["", *(f"    {step}" for step in self.steps)])

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:
        printer.text(repr(self))


def build(
    program: Program, *, optimization: str = "none", python: Callable[[int], bool] = lambda place: False
) -> bm.Topology:
    """Make the calls that a program describes; `python` says for which steps the functions are Python's."""
    app = bm.StreamsBuilder("generated", key=bm.Text(), value=bm.Text())
    handles: dict[str, Any] = {}
    for place, step in enumerate(program.steps):
        spoken = python_words if python(place) else words
        on = [handles[name] for name in step.on]
        made = _sources(app, step) if not on else _CALLS[step.op](on, step, spoken)
        handles.update(zip(step.outs, made if isinstance(made, list) else [made], strict=False))
        if step.op == "through":
            handles[step.outs[0]] = app.stream(step.args[0])
    return app.build(optimization=optimization)


def _sources(app: bm.StreamsBuilder, step: Step) -> Any:
    if step.op == "stream":
        return app.stream(list(step.args[0]))
    return app.table(step.args[0][0], store=step.store)


Call = Callable[[list[Any], Step, ModuleType], Any]


def _named(op: str, kind: str) -> Call:
    """Return a call with one function and, where a table is kept, a store."""

    def call(on: list[Any], step: Step, spoken: ModuleType) -> Any:
        options = {} if step.store is None else {"store": step.store}
        return getattr(on[0], op)(getattr(spoken, kind)[step.args[0]], **options)

    return call


def _split(on: list[Any], step: Step, spoken: ModuleType) -> list[Any]:
    split = on[0].split(name=f"{step.outs[0]}-")
    for place, test in enumerate(step.args):
        split = split.branch(spoken.TESTS[test], name=f"b{place}")
    ends_with_default = len(step.outs) > len(step.args)
    return list(
        (split.default_branch(name="rest") if ends_with_default else split.no_default_branch()).values()
    )


def _repartition(on: list[Any], step: Step, _: ModuleType) -> Any:
    return on[0].repartition(partitions=step.args[0] if step.args else None)


def _group(on: list[Any], step: Step, spoken: ModuleType) -> list[Any]:
    key, *folds = step.args
    # A group with a name has one repartition for all its results.
    name = f"{step.outs[0]}-group" if len(folds) > 1 else None
    grouped = _grouped(on[0], key, name, spoken)
    return [_folded(grouped, fold, step, place, spoken) for place, fold in enumerate(folds)]


def _grouped(stream: bm.KStream, key: str | None, name: str | None, spoken: ModuleType) -> bm.KGroupedStream:
    return stream.group_by_key(name=name) if key is None else stream.group_by(spoken.KEYS[key], name=name)


def _folded(
    grouped: bm.KGroupedStream, fold: tuple[str, ...], step: Step, place: int, spoken: ModuleType
) -> bm.KTable:
    options = _store(step, place)
    match fold:
        case ("count",):
            return _as_text(grouped.count(**options))
        case ("reduce", name):
            return grouped.reduce(spoken.FOLDS[name], **options)
        case ("aggregate", initial, name):
            return grouped.aggregate(initial, spoken.step(name), **options)
        case (_, *names):
            columns: dict[str, Any] = {name: words.SHORTS[name]() for name in names}
            return _as_json(grouped.agg(**options, **columns))


def _group_table(on: list[Any], step: Step, spoken: ModuleType) -> list[Any]:
    key, value, *folds = step.args
    grouped = on[0].group_by(spoken.pair(key, value))
    return [_folded_table(grouped, fold, step, place, spoken) for place, fold in enumerate(folds)]


def _folded_table(
    grouped: bm.KGroupedTable, fold: tuple[str, ...], step: Step, place: int, spoken: ModuleType
) -> bm.KTable:
    options = _store(step, place)
    match fold:
        case ("count",):
            return _as_text(grouped.count(**options))
        case ("reduce", name, undo):
            return grouped.reduce(spoken.FOLDS[name], spoken.UNDOES[undo], **options)
        case ("aggregate", initial, name, undo):
            return grouped.aggregate(initial, spoken.step(name), spoken.undo(undo), **options)
        case (_, *names):
            columns: dict[str, Any] = {name: words.SHORTS[name]() for name in names}
            return _as_json(grouped.agg(**options, **columns))


def _cogroup(on: list[Any], step: Step, spoken: ModuleType) -> Any:
    initial, *parts = step.args
    groups = [
        (_grouped(stream, key, f"{step.outs[0]}-{place}", spoken), fold)
        for place, (stream, (key, fold)) in enumerate(zip(on, parts, strict=True))
    ]
    cogrouped = groups[0][0].cogroup(spoken.step(groups[0][1]))
    for grouped, fold in groups[1:]:
        cogrouped = cogrouped.cogroup(grouped, spoken.step(fold))
    return cogrouped.aggregate(initial, **_store(step, 0))


def _store(step: Step, place: int) -> dict[str, Any]:
    return {} if step.store is None else {"store": f"{step.store}{place or ''}"}


def _as_text(table: bm.KTable) -> bm.KTable:
    return table.map_values(lambda value: value.cast("string"))


def _as_json(table: bm.KTable) -> bm.KTable:
    return table.map_values(lambda value: F.to_json(value))


def _streams(on: Iterable[Any]) -> list[bm.KStream]:
    return [handle.to_stream() if isinstance(handle, bm.KTable) else handle for handle in on]


_CALLS: dict[str, Call] = {
    "filter": _named("filter", "TESTS"),
    "filter_not": _named("filter_not", "TESTS"),
    "map": lambda on, step, spoken: on[0].map(spoken.pair(*step.args)),
    "map_values": _named("map_values", "VALUES"),
    "transform_values": _named("transform_values", "VALUES"),
    "flat_map": _named("flat_map", "FLAT_PAIRS"),
    "flat_map_values": _named("flat_map_values", "FLAT_VALUES"),
    "select_key": _named("select_key", "KEYS"),
    "merge": lambda on, step, spoken: on[0].merge(*on[1:]),
    "split": _split,
    "repartition": _repartition,
    "to_table": lambda on, step, spoken: on[0].to_table(store=step.store),
    "group": _group,
    "cogroup": _cogroup,
    "to_stream": lambda on, step, spoken: on[0].to_stream(*(words.KEYS[key] for key in step.args)),
    "group_table": _group_table,
    "to": lambda on, step, spoken: _streams(on)[0].to(step.args[0]),
    "through": lambda on, step, spoken: _streams(on)[0].to(step.args[0]),
    "route": lambda on, step, spoken: _streams(on)[0].to(words.TOPICS[step.args[0]]),
}

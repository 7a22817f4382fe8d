"""Operators that fold the records of a key, with or without windows, and what they fold with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from brookmere.topology.durations import duration_text
from brookmere.topology.function import Function
from brookmere.topology.operators.details import corrections, idle
from brookmere.topology.operators.operator import (
    DERIVED,
    NAME,
    EventTimeOnly,
    IntoTable,
    KeepsStore,
    ReadsNothing,
    StreamStep,
    TableStep,
)
from brookmere.topology.python_code import PythonFunction
from brookmere.topology.windows import Emit, Windows


@dataclass(frozen=True, slots=True)
class Literal:
    """A plain Python value (dict, list, number, text or None) used as a Column."""

    value: Any


@dataclass(frozen=True, slots=True)
class ShortAggregate:
    """One column of the short form: `agg(total=sum("x"))` holds ("total", "sum", "x", None)."""

    name: str
    kind: str
    field: str | Function | None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Top:
    """The `limit` values that `by` ranks highest, or lowest; the earlier one wins a tie."""

    limit: int
    by: Function
    lowest: bool = False


Code = Function | PythonFunction
"""A function over Columns, or one over Python values."""
Initial = Literal | Code
Fold = Code | tuple[ShortAggregate, ...] | Top
"""How a value is added to an aggregate: by a function, or in one of the short forms."""


@dataclass(frozen=True, slots=True)
class Aggregate(IntoTable, KeepsStore, ReadsNothing, EventTimeOnly):
    """Folds a stream into a table. Without `initial` the first value is the aggregate (reduce)."""

    keeps_key = True
    keeps_value = False
    rows = "own store"

    store: str = field(metadata=NAME)
    step: Fold
    initial: Initial | None = None
    send_old: bool = field(default=False, metadata=DERIVED)
    merge: Function | None = None
    """Merges two aggregates, in any order; with it, records may be folded before the repartition."""


@dataclass(frozen=True, slots=True)
class TableAggregate(TableStep, KeepsStore, ReadsNothing, EventTimeOnly):
    """Subtracts the old value of a change from its group, then adds the new one."""

    keeps_key = True
    keeps_value = False
    rows = "own store"

    store: str = field(metadata=NAME)
    adder: Fold
    subtractor: Fold
    initial: Initial | None = None
    send_old: bool = field(default=False, metadata=DERIVED)


@dataclass(frozen=True, slots=True)
class WindowAggregate(IntoTable, KeepsStore, ReadsNothing):
    """Folds a stream into a table of windows. Without `initial` the first value is the aggregate (reduce)."""

    keeps_key = True
    keeps_value = False
    rows = "own store"
    has_timers = False

    store: str = field(metadata=NAME)
    windows: Windows
    step: Fold
    initial: Initial | None = None
    merger: Code | None = None
    """Merges the aggregates of two sessions; the short forms know how to without it."""
    send_old: bool = field(default=False, metadata=DERIVED)
    emit: Emit = "update"
    skip_nulls: bool = False
    """Correction: records without a value are ignored, as the documentation of Kafka Streams says."""
    emit_all: bool = False
    """Correction: closed windows are sent even if stream time has jumped past their retention."""
    close_idle_ms: int | None = None

    @property
    def idle_after_ms(self) -> int | None:
        return self.close_idle_ms

    @property
    def details(self) -> list[str]:
        return [
            *self.windows.details,
            "sent when they close" if self.emit == "close" else "sent at every update",
            *corrections({"window-null-values": self.skip_nulls, "window-close-jumps": self.emit_all}),
            *idle(self.close_idle_ms),
        ]


@dataclass(frozen=True, slots=True)
class Dedupe(StreamStep, KeepsStore, ReadsNothing, EventTimeOnly):
    """Forwards the first record of a key, or of what `by` returns, in any `within_ms` of event time."""

    keeps_key = True
    keeps_value = True

    store: str = field(metadata=NAME)
    within_ms: int
    by: Function | None = None

    @property
    def details(self) -> list[str]:
        return [f"within {duration_text(self.within_ms)}"]

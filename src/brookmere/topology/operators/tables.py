"""Operators on tables: each receives the new and the old value of a row."""

from __future__ import annotations

from dataclasses import dataclass, field

from brookmere.topology.durations import duration_text
from brookmere.topology.operators.aggregates import Code
from brookmere.topology.operators.details import idle
from brookmere.topology.operators.operator import (
    DERIVED,
    NAME,
    EventTimeOnly,
    FromTable,
    IntoTable,
    KeepsStore,
    ReadsNothing,
    Stateless,
    TableStep,
)


@dataclass(frozen=True, slots=True)
class TableSource(IntoTable, KeepsStore, ReadsNothing, EventTimeOnly):
    """Reads a stream of updates as a table. A versioned table also keeps earlier values of its rows."""

    keeps_key = True
    keeps_value = True
    rows = "own store"

    store: str | None = field(metadata=NAME)
    send_old: bool = field(default=False, metadata=DERIVED)
    versioned: bool = False
    ttl_ms: int | None = None
    """Rows that were not updated for this long are deleted."""

    @property
    def details(self) -> list[str]:
        return [] if self.ttl_ms is None else [f"rows live {duration_text(self.ttl_ms)}"]


@dataclass(frozen=True, slots=True)
class TableFilter(TableStep, KeepsStore, ReadsNothing, EventTimeOnly):
    keeps_key = True
    keeps_value = True
    rows = "own store or parents"

    predicate: Code
    negate: bool = False
    store: str | None = field(default=None, metadata=NAME)
    send_old: bool = field(default=False, metadata=DERIVED)
    versioned: bool = False
    """The changes come from a versioned table: repeated deletions are forwarded."""


@dataclass(frozen=True, slots=True)
class TableMapValues(TableStep, KeepsStore, ReadsNothing, EventTimeOnly):
    """`sees_null` is transform_values: the function is called for tombstones, too."""

    keeps_key = True
    keeps_value = False
    rows = "own store or parents"

    function: Code
    store: str | None = field(default=None, metadata=NAME)
    send_old: bool = field(default=False, metadata=DERIVED)
    sees_null: bool = False


@dataclass(frozen=True, slots=True)
class TableToStream(FromTable, Stateless, ReadsNothing, EventTimeOnly):
    """Turns every change, tombstones included, into a record."""

    keeps_key = True
    keeps_value = True


@dataclass(frozen=True, slots=True)
class TableGroup(TableStep, Stateless, ReadsNothing, EventTimeOnly):
    """Sends the old and the new value of a change to the groups that the function names.

    The function returns the pair (group key, value). Out-of-order updates of a versioned table are left out.
    """

    keeps_key = False
    keeps_value = False
    rows = "none"

    function: Code
    versioned: bool = False


@dataclass(frozen=True, slots=True)
class Suppress(TableStep, KeepsStore, ReadsNothing):
    """Holds changes back: until their window closes, or for `wait_ms` after the first one of a key."""

    keeps_key = True
    keeps_value = True
    rows = "own store and parents"
    has_timers = False

    store: str = field(metadata=NAME)
    until_window_closes: bool
    wait_ms: int
    max_records: int | None = None
    max_bytes: int | None = None
    stop_when_full: bool = False
    close_idle_ms: int | None = None

    @property
    def idle_after_ms(self) -> int | None:
        return self.close_idle_ms

    @property
    def details(self) -> list[str]:
        wait = duration_text(self.wait_ms)
        held = f"until windows close, {wait} after their end" if self.until_window_closes else f"for {wait}"
        return [held, *self._bounds(), *idle(self.close_idle_ms)]

    def _bounds(self) -> list[str]:
        limits = ((self.max_records, "records"), (self.max_bytes, "bytes"))
        bounds = [f"{limit} {unit}" for limit, unit in limits if limit is not None]
        then = "the application stops" if self.stop_when_full else "the oldest are sent early"
        return [f"beyond {' or '.join(bounds)} {then}"] if bounds else []

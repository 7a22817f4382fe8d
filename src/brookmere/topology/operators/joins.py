"""Operators that join streams with streams, streams with tables, and tables by their key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from brookmere.topology.durations import duration_text
from brookmere.topology.function import Function
from brookmere.topology.operators.details import corrections, idle
from brookmere.topology.operators.operator import (
    DERIVED,
    NAME,
    EventTimeOnly,
    KeepsStore,
    LooksUpRows,
    ReadsNothing,
    SharesStore,
    Stateless,
    StreamStep,
    TableStep,
)
from brookmere.topology.windows import JoinWindows

Side = OneOf["left", "right"]
How = OneOf["inner", "left", "outer"]


@dataclass(frozen=True, slots=True)
class JoinBuffer(StreamStep, KeepsStore, ReadsNothing, EventTimeOnly):
    """Keeps the records of one side of a stream-stream join and forwards them."""

    keeps_key = True
    keeps_value = True

    store: str = field(metadata=NAME)


@dataclass(frozen=True, slots=True)
class StreamJoin(StreamStep, SharesStore):
    """Joins the records of one side with those that the other side keeps.

    The joiner takes (left, right) or (key, left, right), whichever side a record comes from.
    """

    keeps_key = True
    keeps_value = False
    has_timers = False

    side: Side
    other: str = field(metadata=NAME)
    """The store of the other side."""
    windows: JoinWindows
    how: How
    joiner: Function
    unmatched: str | None = field(default=None, metadata=NAME)
    """The store of the records that wait for a match; both sides share it. Inner joins have none."""
    clock: str = field(default="", metadata=NAME)
    """The name of the stream time that both sides share."""
    drop_late: bool = False
    """Correction: records that arrive after their window has closed are dropped."""
    wait_for_grace: bool = False
    """Correction: an unmatched out-of-order record waits until its window closes, too."""
    close_idle_ms: int | None = None

    @property
    def kept_stores(self) -> tuple[str, ...]:
        return (self.other,) if self.unmatched is None else (self.other, self.unmatched)

    @property
    def shared_store(self) -> str | None:
        return self.other

    @property
    def idle_after_ms(self) -> int | None:
        # Both sides share one stream time, so one of them is enough; nothing waits in an inner join.
        return None if self.side == "right" or self.unmatched is None else self.close_idle_ms

    @property
    def details(self) -> list[str]:
        chosen = {"join-late-records": self.drop_late, "join-unmatched-out-of-order": self.wait_for_grace}
        sides = f"{self.how}, {self.side} side"
        return [sides, *self.windows.details, *corrections(chosen), *idle(self.close_idle_ms)]


@dataclass(frozen=True, slots=True)
class StreamSelfJoin(StreamStep, KeepsStore, SharesStore, EventTimeOnly):
    """Joins a stream with itself, with one store. Its parent is the stream's JoinBuffer."""

    keeps_key = True
    keeps_value = False

    store: str = field(metadata=NAME)
    windows: JoinWindows
    joiner: Function

    @property
    def shared_store(self) -> str | None:
        return self.store

    @property
    def details(self) -> list[str]:
        return ["inner", *self.windows.details]


@dataclass(frozen=True, slots=True)
class StreamTableJoin(StreamStep, LooksUpRows, EventTimeOnly):
    """Looks up each record's key in a table. With `grace_ms`, records wait in a buffer, ordered by time."""

    keeps_key = True
    keeps_value = False

    table: str = field(metadata=NAME)
    """The node whose table it looks rows up in."""
    how: How
    joiner: Function
    grace_ms: int | None = None
    buffer: str | None = field(default=None, metadata=NAME)
    drop_late: bool = False
    """Correction: records older than the grace period are dropped, as documented."""

    @property
    def kept_stores(self) -> tuple[str, ...]:
        return () if self.buffer is None else (self.buffer,)

    @property
    def lookup_table(self) -> str | None:
        return self.table

    @property
    def details(self) -> list[str]:
        grace = [f"grace {duration_text(self.grace_ms)}"] if self.grace_ms else []
        return [
            f"{self.how}, with {self.table}",
            *grace,
            *corrections({"table-join-late-records": self.drop_late}),
        ]


@dataclass(frozen=True, slots=True)
class GlobalJoin(StreamStep, Stateless, LooksUpRows, EventTimeOnly):
    """Looks up the key that `key` computes from (key, value) in a global table."""

    keeps_key = True
    keeps_value = False

    table: str = field(metadata=NAME)
    """The node whose table it looks rows up in."""
    key: Function
    how: How
    joiner: Function

    @property
    def lookup_table(self) -> str | None:
        return self.table

    @property
    def details(self) -> list[str]:
        return [f"{self.how}, with {self.table}"]


@dataclass(frozen=True, slots=True)
class TableJoin(TableStep, Stateless, LooksUpRows, EventTimeOnly):
    """Joins the changes of one table with the rows of another that have the same key."""

    keeps_key = True
    keeps_value = False
    rows = "own store or parents"

    side: Side
    other: str = field(metadata=NAME)
    """The node whose table it looks rows up in."""
    how: How
    joiner: Function
    send_old: bool = field(default=False, metadata=DERIVED)
    versioned: bool = False
    """The changes come from a versioned table: out-of-order updates are left out."""

    @property
    def lookup_table(self) -> str | None:
        return self.other

    @property
    def details(self) -> list[str]:
        return [f"{self.how}, {self.side} side, with {self.other}"]


@dataclass(frozen=True, slots=True)
class TableJoinMerge(TableStep, KeepsStore, ReadsNothing, EventTimeOnly):
    """Merges the results of both sides of a table join, and keeps them if it has a store."""

    keeps_key = True
    keeps_value = False
    rows = "own store or parents"

    store: str | None = field(default=None, metadata=NAME)
    send_old: bool = field(default=False, metadata=DERIVED)

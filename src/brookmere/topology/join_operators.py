"""What the processors of joins do: of streams, of streams with tables, of tables, by foreign key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from brookmere.topology.function import Function
from brookmere.topology.windows import JoinWindows

Side = OneOf["left", "right"]
How = OneOf["inner", "left", "outer"]


@dataclass(frozen=True, slots=True)
class JoinBuffer:
    """Keeps the records of one side of a stream-stream join, and passes them on first."""

    store: str


@dataclass(frozen=True, slots=True)
class StreamJoin:
    """Joins the records of one side with those that the other side has kept.

    The joiner takes (left, right) or (key, left, right), whichever side a record comes from.
    """

    side: Side
    other: str
    """The store of the other side."""
    windows: JoinWindows
    how: How
    joiner: Function
    unmatched: str | None = None
    """The store of the records that wait for a match; both sides share it. Inner joins have none."""
    clock: str = ""
    """Both sides have one stream time, of this name."""
    drop_late: bool = False
    """Correction: records that come after their window closed are dropped."""
    wait_for_grace: bool = False
    """Correction: an unmatched record that is out of order waits until its window closes, too."""
    close_idle_ms: int | None = None


@dataclass(frozen=True, slots=True)
class StreamSelfJoin:
    """Joins a stream with itself, by one store. Its parent is the stream's JoinBuffer."""

    store: str
    windows: JoinWindows
    joiner: Function


@dataclass(frozen=True, slots=True)
class StreamTableJoin:
    """Looks each record's key up in a table. With `grace_ms` records wait in a buffer, in order of time."""

    table: str
    """The node whose table is looked into."""
    how: How
    joiner: Function
    grace_ms: int | None = None
    buffer: str | None = None
    drop_late: bool = False
    """Correction: records older than the grace period are dropped, as documented."""


@dataclass(frozen=True, slots=True)
class GlobalJoin:
    """Looks up the key that `key` computes of (key, value) in a global table."""

    table: str
    """The node whose table is looked into."""
    key: Function
    how: How
    joiner: Function


@dataclass(frozen=True, slots=True)
class TableJoin:
    """Joins the updates of one table with the rows of another that have the same key."""

    side: Side
    other: str
    """The node whose table is looked into."""
    how: How
    joiner: Function
    send_old: bool = False
    versioned: bool = False
    """The updates come from a versioned table: those of the past are left out."""


@dataclass(frozen=True, slots=True)
class TableJoinMerge:
    """Brings the results of both sides of a table join together, and keeps them if it has a store."""

    store: str | None = None
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class SubscriptionSend:
    """Left side of a foreign-key join: tells the right table which of its rows the left row needs.

    `key` takes (value) or (key, value) and returns the key of the right table.
    """

    key: Function
    how: How
    versioned: bool = False


@dataclass(frozen=True, slots=True)
class SubscriptionReceive:
    """Keeps which left rows wait for which right row."""

    store: str


@dataclass(frozen=True, slots=True)
class SubscriptionJoin:
    """Answers a subscription with the right row there is now."""

    right: str
    """The node whose table is looked into."""


@dataclass(frozen=True, slots=True)
class ForeignUpdate:
    """Tells an update of the right table to all who have subscribed to its key."""

    store: str
    versioned: bool = False


@dataclass(frozen=True, slots=True)
class ResponseJoin:
    """Joins an answer with the left row, if that is still the one that asked."""

    left: str
    """The node whose table is looked into."""
    how: How
    joiner: Function


JoinOperator = (
    JoinBuffer
    | StreamJoin
    | StreamSelfJoin
    | StreamTableJoin
    | GlobalJoin
    | TableJoin
    | TableJoinMerge
    | SubscriptionSend
    | SubscriptionReceive
    | SubscriptionJoin
    | ForeignUpdate
    | ResponseJoin
)

"""What a processor of the topology does with a record: one frozen class per meaning.

The kernel has one Scala file per class. Stream operators receive (key, value);
table operators receive (key, new value, old value).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from typing import Literal as OneOf

from brookmere.topology.function import Function
from brookmere.topology.windows import Emit, JoinWindows, Windows

Side = OneOf["left", "right"]
How = OneOf["inner", "left", "outer"]


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
    """The `limit` values with the highest, or lowest, of what `by` gives; first come first among equals."""

    limit: int
    by: Function
    lowest: bool = False


Initial = Literal | Function
Fold = Function | tuple[ShortAggregate, ...] | Top
"""How a value goes into an aggregate: by a function, or in one of the short forms."""


@dataclass(frozen=True, slots=True)
class Filter:
    predicate: Function
    negate: bool = False


@dataclass(frozen=True, slots=True)
class Map:
    """The function returns the pair (new key, new value)."""

    function: Function


@dataclass(frozen=True, slots=True)
class MapValues:
    function: Function


@dataclass(frozen=True, slots=True)
class SelectKey:
    function: Function


@dataclass(frozen=True, slots=True)
class FlatMap:
    """The function returns an array of structs with the fields key and value."""

    function: Function


@dataclass(frozen=True, slots=True)
class FlatMapValues:
    """The function returns an array of values."""

    function: Function


@dataclass(frozen=True, slots=True)
class Tap:
    """Shows each record to a Python callable on the driver: peek, foreach and print."""

    action: Callable[[Any, Any], object] = field(compare=False)
    terminal: bool = False


@dataclass(frozen=True, slots=True)
class PassThrough:
    """Hands records on: merge, a branch's child, a table merge of cogroup."""


@dataclass(frozen=True, slots=True)
class Branch:
    """`children[i]` receives what predicate i accepts first; a default is the last of the children, too."""

    predicates: tuple[Function, ...]
    children: tuple[str, ...]
    default: str | None = None


@dataclass(frozen=True, slots=True)
class KeyNotNull:
    """Drops records without key in front of a repartition."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """Folds a stream into a table. Without `initial` the first value is the aggregate (reduce)."""

    store: str
    step: Fold
    initial: Initial | None = None
    send_old: bool = False
    merge: Function | None = None
    """Makes one of two aggregates, in any order: then records may be folded before they travel."""


@dataclass(frozen=True, slots=True)
class Dedupe:
    """Keeps the first record of a key, or of what `by` gives, in any span of `within_ms` of event time."""

    store: str
    within_ms: int
    by: Function | None = None


@dataclass(frozen=True, slots=True)
class TableSource:
    """Reads a stream of updates as a table. A versioned one keeps what a key was at earlier times."""

    store: str | None
    send_old: bool = False
    versioned: bool = False
    ttl_ms: int | None = None
    """A row that was not updated for this long is deleted."""


@dataclass(frozen=True, slots=True)
class TableFilter:
    predicate: Function
    negate: bool = False
    store: str | None = None
    send_old: bool = False
    versioned: bool = False
    """The updates come from a versioned table: repeated deletions are passed on."""


@dataclass(frozen=True, slots=True)
class TableMapValues:
    """`sees_null` is transform_values: the function is called for tombstones, too."""

    function: Function
    store: str | None = None
    send_old: bool = False
    sees_null: bool = False


@dataclass(frozen=True, slots=True)
class TableToStream:
    """Every update, tombstones included, becomes a record."""


@dataclass(frozen=True, slots=True)
class TableGroup:
    """Sends old and new value of an update to the group that the function names.

    The function returns the pair (group key, value). Of a versioned table, updates of the past are left out.
    """

    function: Function
    versioned: bool = False


@dataclass(frozen=True, slots=True)
class TableAggregate:
    """Takes the old value of an update out of its group, then puts the new one in."""

    store: str
    adder: Fold
    subtractor: Fold
    initial: Initial | None = None
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class WindowAggregate:
    """Folds a stream into a table of windows. Without `initial` the first value is the aggregate (reduce)."""

    store: str
    windows: Windows
    step: Fold
    initial: Initial | None = None
    merger: Function | None = None
    """Makes one session's aggregate of two; of the short form it is found by itself."""
    send_old: bool = False
    emit: Emit = "update"
    skip_nulls: bool = False
    """Correction: a record without value is left out, as the documentation of Kafka Streams says."""
    emit_all: bool = False
    """Correction: closed windows are sent also when stream time has jumped past their retention."""
    close_idle_ms: int | None = None
    """Stream time goes on with the wall clock once no record has come for this long."""


@dataclass(frozen=True, slots=True)
class Suppress:
    """Holds updates back: until their window closes, or for `wait_ms` after the first one of a key."""

    store: str
    until_window_closes: bool
    wait_ms: int
    max_records: int | None = None
    max_bytes: int | None = None
    stop_when_full: bool = False
    close_idle_ms: int | None = None


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


Operator = (
    Filter
    | Map
    | MapValues
    | SelectKey
    | FlatMap
    | FlatMapValues
    | Tap
    | PassThrough
    | Branch
    | KeyNotNull
    | Aggregate
    | Dedupe
    | TableSource
    | TableFilter
    | TableMapValues
    | TableToStream
    | TableGroup
    | TableAggregate
    | WindowAggregate
    | Suppress
    | JoinBuffer
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

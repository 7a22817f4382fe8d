"""What a processor of the topology does with a record: one frozen class per meaning.

The kernel has one Scala file per class. Stream operators receive (key, value);
table operators receive (key, new value, old value). Those that hold a PythonFunction run in the worker.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brookmere.topology.function import Function
from brookmere.topology.join_operators import JoinOperator
from brookmere.topology.python_code import Process as Process
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
    """The `limit` values with the highest, or lowest, of what `by` gives; first come first among equals."""

    limit: int
    by: Function
    lowest: bool = False


Code = Function | PythonFunction
"""A function over Columns, or one over Python values."""
Initial = Literal | Code
Fold = Code | tuple[ShortAggregate, ...] | Top
"""How a value goes into an aggregate: by a function, or in one of the short forms."""


@dataclass(frozen=True, slots=True)
class Filter:
    predicate: Code
    negate: bool = False


@dataclass(frozen=True, slots=True)
class Map:
    """The function returns the pair (new key, new value)."""

    function: Code


@dataclass(frozen=True, slots=True)
class MapValues:
    function: Code


@dataclass(frozen=True, slots=True)
class SelectKey:
    function: Code


@dataclass(frozen=True, slots=True)
class FlatMap:
    """The function returns an array of structs with the fields key and value."""

    function: Code


@dataclass(frozen=True, slots=True)
class FlatMapValues:
    """The function returns an array of values."""

    function: Code


@dataclass(frozen=True, slots=True)
class Tap:
    """Shows each record to a Python callable on the driver: peek, foreach and print."""

    action: Callable[[Any, Any], object] = field(compare=False)
    terminal: bool = False


@dataclass(frozen=True, slots=True)
class PassThrough:
    """Hands records on: merge, a branch's child, a table merge of cogroup."""

    in_python: bool = False
    """It stands between Python nodes and runs where they do. Only a plan has such nodes."""


@dataclass(frozen=True, slots=True)
class Branch:
    """`children[i]` receives what predicate i accepts first; a default is the last of the children, too."""

    predicates: tuple[Code, ...]
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
    predicate: Code
    negate: bool = False
    store: str | None = None
    send_old: bool = False
    versioned: bool = False
    """The updates come from a versioned table: repeated deletions are passed on."""


@dataclass(frozen=True, slots=True)
class TableMapValues:
    """`sees_null` is transform_values: the function is called for tombstones, too."""

    function: Code
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

    function: Code
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
    merger: Code | None = None
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
    | JoinOperator
    | Process
)

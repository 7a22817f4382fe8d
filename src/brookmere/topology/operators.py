"""What a processor of the topology does with a record: one frozen class per meaning.

The kernel has one Scala file per class. Stream operators receive (key, value);
table operators receive (key, new value, old value).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brookmere.topology.function import Function


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


Initial = Literal | Function


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
    step: Function | tuple[ShortAggregate, ...]
    initial: Initial | None = None
    send_old: bool = False
    merge: Function | None = None
    """Makes one of two aggregates, in any order: then records may be folded before they travel."""


@dataclass(frozen=True, slots=True)
class TableSource:
    """Reads a stream of updates as a table."""

    store: str | None
    send_old: bool = False


@dataclass(frozen=True, slots=True)
class TableFilter:
    predicate: Function
    negate: bool = False
    store: str | None = None
    send_old: bool = False


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

    The function returns the pair (group key, value).
    """

    function: Function


@dataclass(frozen=True, slots=True)
class TableAggregate:
    """Takes the old value of an update out of its group, then puts the new one in."""

    store: str
    adder: Function | tuple[ShortAggregate, ...]
    subtractor: Function | tuple[ShortAggregate, ...]
    initial: Initial | None = None
    send_old: bool = False


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
    | TableSource
    | TableFilter
    | TableMapValues
    | TableToStream
    | TableGroup
    | TableAggregate
)

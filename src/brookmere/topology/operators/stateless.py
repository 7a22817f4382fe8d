"""Operators on streams that treat each record alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brookmere.topology.operators.aggregates import Code
from brookmere.topology.operators.operator import (
    DERIVED,
    NAME,
    EventTimeOnly,
    ReadsNothing,
    Stateless,
    StreamStep,
)


@dataclass(frozen=True, slots=True)
class Filter(StreamStep, Stateless, ReadsNothing, EventTimeOnly):
    keeps_key = True
    keeps_value = True

    predicate: Code
    negate: bool = False


@dataclass(frozen=True, slots=True)
class Map(StreamStep, Stateless, ReadsNothing, EventTimeOnly):
    """The function returns the pair (new key, new value)."""

    keeps_key = False
    keeps_value = False

    function: Code


@dataclass(frozen=True, slots=True)
class MapValues(StreamStep, Stateless, ReadsNothing, EventTimeOnly):
    keeps_key = True
    keeps_value = False

    function: Code


@dataclass(frozen=True, slots=True)
class SelectKey(StreamStep, Stateless, ReadsNothing, EventTimeOnly):
    keeps_key = False
    keeps_value = True

    function: Code


@dataclass(frozen=True, slots=True)
class FlatMap(StreamStep, Stateless, ReadsNothing, EventTimeOnly):
    """The function returns an array of structs with the fields key and value."""

    keeps_key = False
    keeps_value = False

    function: Code


@dataclass(frozen=True, slots=True)
class FlatMapValues(StreamStep, Stateless, ReadsNothing, EventTimeOnly):
    """The function returns an array of values."""

    keeps_key = True
    keeps_value = False

    function: Code


@dataclass(frozen=True, slots=True)
class Tap(StreamStep, Stateless, ReadsNothing, EventTimeOnly):
    """Passes each record to a Python callable on the driver: peek, foreach and print."""

    keeps_key = True
    keeps_value = True

    action: Callable[[Any, Any], object] = field(compare=False)
    terminal: bool = False


@dataclass(frozen=True, slots=True)
class PassThrough(Stateless, ReadsNothing, EventTimeOnly):
    """Forwards what it receives: merge, a child of a branch, the merged tables of cogroup."""

    keeps_key = True
    keeps_value = True
    takes = "either"
    sends = "either"
    rows = "parents"

    in_python: bool = field(default=False, metadata=DERIVED)
    """Set by the planner for a node between Python nodes, so that records need not leave the worker."""

    @property
    def is_python(self) -> bool:
        return self.in_python


@dataclass(frozen=True, slots=True)
class Branch(StreamStep, Stateless, ReadsNothing, EventTimeOnly):
    """`children[i]` receives what predicate i is the first to accept; the default is the last child."""

    keeps_key = True
    keeps_value = True

    predicates: tuple[Code, ...]
    children: tuple[str, ...] = field(metadata=NAME)
    default: str | None = field(default=None, metadata=NAME)


@dataclass(frozen=True, slots=True)
class KeyNotNull(Stateless, ReadsNothing, EventTimeOnly):
    """Drops records without a key before a repartition."""

    keeps_key = True
    keeps_value = True
    takes = "either"
    sends = "either"
    rows = "none"

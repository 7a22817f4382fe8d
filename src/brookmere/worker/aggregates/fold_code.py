"""The functions of aggregates, as the program sends them to the worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from brookmere.worker.protocol.stage_code import TypeCode

Part = Literal["key", "value", "aggregate"]
Kind = Literal["step", "subtract", "merge"]


@dataclass(frozen=True, slots=True)
class UserCode:
    """A function of the user, and its arguments, in this order.

    Of a merger, "aggregate" is the one aggregate and "value" the other.
    `is_factory`: calling it makes the function, once per process. `where` says what it is, and its line.
    """

    call: Callable[..., Any]
    takes: tuple[Part, ...] = ()
    is_factory: bool = False
    where: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """The initial value of an aggregate: a value, or what a function makes for each new row."""

    value: Any = None
    make: UserCode | None = None


@dataclass(frozen=True, slots=True)
class FoldFunction:
    """A function of an aggregate, and the types of its arguments.

    A step takes the new value of a record, a subtractor the old one, and a merger a second aggregate.
    Without `initial` the first value is the aggregate.
    """

    kind: Kind
    code: UserCode
    initial: Start | None = None
    key: TypeCode | None = None
    value: TypeCode | None = None
    kept: TypeCode | None = None
    stops_at_none: bool = False
    """Which calls come next depends on whether there is a result."""
    returns_initial: bool = False
    """The kernel sends the initial value on, as the value before the first update."""


@dataclass(frozen=True, slots=True)
class FoldCode:
    """The functions of a stage of aggregates. The kernel knows them by their position."""

    stage: int
    functions: tuple[FoldFunction, ...]

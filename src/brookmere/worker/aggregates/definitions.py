"""Holds what an aggregate is made of on its way to the worker: the user's functions, and when to send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

FOREVER = 2**63 - 1
"""The size of the window that has no end."""

NO_TIME = -1
"""Stream time before the first record, and the close time before windows were sent."""

Part = Literal["key", "value", "aggregate"]


@dataclass(frozen=True, slots=True)
class UserCode:
    """A function of the user, and what it is given, in this order.

    Of a merger, "aggregate" is the one aggregate and "value" the other.
    `is_factory`: calling it makes the function, once per process. `where` tells what it is and its line.
    """

    call: Callable[..., Any]
    takes: tuple[Part, ...] = ()
    is_factory: bool = False
    where: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """What an aggregate starts with: a value, or what a function makes for every new row."""

    value: Any = None
    make: UserCode | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """How values go into the rows of a store. Without `initial` the first value is the aggregate."""

    store: str
    step: UserCode
    initial: Start | None = None
    merger: UserCode | None = None


@dataclass(frozen=True, slots=True)
class Emission:
    """When windowed aggregates send, and what they tell."""

    send_old: bool = False
    on_close: bool = False
    emit_all: bool = False
    """Correction: also windows that stream time has jumped past."""
    skip_nulls: bool = False
    """Correction: records without value are left out."""
    close_idle_ms: int | None = None
    """Stream time goes on with the wall clock once no record has come for this long."""

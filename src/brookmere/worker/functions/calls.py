"""Calls of the user's functions with key, value and timestamp."""

# ruff: noqa: ARG005 - calls of one form, whatever the function takes

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from brookmere.worker.protocol.stage_code import NodeCode, Runtime
from brookmere.worker.types.scalars import shown

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

Call = Callable[[Any, Any, int], Any]
"""Called with key, value and timestamp."""


@dataclass(frozen=True, slots=True)
class AsyncCalls:
    """How an asynchronous function is called: how many at a time, for how long, and how often again."""

    concurrency: int = 64
    timeout_ms: int | None = None
    retries: int = 0
    backoff_ms: int = 0


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A user's function. `is_factory`: calling it makes the function, once per process."""

    call: Callable[..., Any] = field(repr=False)
    role: str
    location: str
    is_factory: bool = False
    batch: Literal["arrow", "pandas"] | None = None
    calls: AsyncCalls | None = None

    @property
    def where(self) -> str:
        """What the function is, and where it is written."""
        return f"{self.role} at {self.location}"

    def wrong(self, expected: str, found: Any, remedy: str) -> TypeError:
        """Return the error for an answer that has not the form it must have."""
        return TypeError(f"The {self.where} must return {expected}, found {shown(found)}; {remedy}")


def plain_call(function: UserFunction, node: NodeCode, runtime: Runtime) -> Callable[..., Any]:
    """Return the function itself; one that has to be made is made and opened once per process."""
    if not function.is_factory:
        return function.call
    return made_call(function.call, node.name, runtime)


class Maker(Protocol):
    """Makes objects once per process."""

    def once(self, factory: Callable[[], Any]) -> Any:
        """Return what equal factories share."""


def made_call(make: Callable[..., Any], name: str, maker: Maker) -> Callable[..., Any]:
    """Return the function that `make` makes, opened: one for all tasks of a process, by name."""
    made: _Made = maker.once(_Making(make, name))
    return made.call


def made_by(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that `make` makes."""
    made = make()
    if callable(made):
        return made  # type: ignore[no-any-return]
    raise TypeError(
        f"{getattr(make, '__qualname__', make)} makes the function that gets the records, but returned "
        f"{shown(made)}; return something that can be called, or take the value as a parameter"
    )


def record_call(function: UserFunction, node: NodeCode, runtime: Runtime) -> Call:
    """Return the function as one of key, value and timestamp, whichever of them it takes."""
    return as_record_call(plain_call(function, node, runtime), function)


def as_record_call(call: Callable[..., Any], function: UserFunction) -> Call:
    """Return `call` as a function of key, value and timestamp, whichever of them it has parameters for."""
    match parameters(call):
        case 0:
            return lambda key, value, ts: call()
        case 1:
            return lambda key, value, ts: call(value)
        case 2:
            return lambda key, value, ts: call(key, value)
        case 3:
            return call
        case count:
            raise TypeError(
                f"The {function.where} takes {count} parameters; "
                "write a function of (value), (key, value) or (key, value, timestamp)"
            )


def parameters(call: Callable[..., Any]) -> int:
    """Return how many parameters a function must be given; key and value for one that takes any number."""
    found = _told(call)
    # Some functions written in C have no signature.
    return 1 if found is None else 2 if _takes_any_number(found) else _required(found)


def required_parameters(call: Callable[..., Any]) -> int | None:
    """Return how many values a function must be given; None if it does not say, or takes any number."""
    found = _told(call)
    return None if found is None or _takes_any_number(found) else _required(found)


def _told(call: Callable[..., Any]) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        return None


def _takes_any_number(found: list[inspect.Parameter]) -> bool:
    return any(parameter.kind is parameter.VAR_POSITIONAL for parameter in found)


def _required(found: list[inspect.Parameter]) -> int:
    return sum(p.default is p.empty and p.kind in POSITIONAL for p in found)


@dataclass(frozen=True, slots=True)
class _Making:
    """Makes a function for all tasks of a process."""

    make: Callable[..., Any] = field(hash=False)
    name: str

    def __call__(self) -> _Made:
        return _Made(self.make)


class _Made:
    """A function that is made, opened and closed; it may have no open and close of its own."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.call = make

    def open(self) -> None:
        self.call = made_by(self.call)
        self._do("open")

    def close(self) -> None:
        self._do("close")

    def _do(self, step: str) -> None:
        found = getattr(self.call, step, _nothing)()
        if inspect.iscoroutine(found):
            found.close()
            raise TypeError(
                f"{type(self.call).__name__}.{step}() is asynchronous, and nothing waits for it; "
                f"use brookmere.python_async(...), or write {step}() without async"
            )


def _nothing() -> None:
    """Do nothing, in place of a missing open or close."""

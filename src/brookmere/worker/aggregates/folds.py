"""Wraps the functions of an aggregate so that they take and return aggregates as the kernel sends them."""

# ruff: noqa: ARG005, E731 - all steps are called in one way

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brookmere.worker.aggregates.fold_code import Part, Start, UserCode
from brookmere.worker.functions.calls import Maker, made_call, required_parameters
from brookmere.worker.protocol.stage_code import TypeCode
from brookmere.worker.types.python_values import reader, writer

Step = Callable[[Any, Any, Any], Any]
"""Returns the aggregate after one more value, from the key, the value and the aggregate before."""
Convert = Callable[[Any], Any]

_WHAT = "the aggregate"


def step_of(code: UserCode, kept: TypeCode | None, maker: Maker, *, is_reduce: bool) -> Step:
    """Return a step. Of a reduce, the first value is the aggregate.

    The user's function gets a new object at each call, so it may change the aggregate in place.
    """
    write = writer(kept, _WHAT)
    return _step(code, reader(kept), write, maker, (write or _same) if is_reduce else None)


def merger_of(code: UserCode, kept: TypeCode | None, maker: Maker, *, is_reduce: bool) -> Step:
    """Return the merger of two aggregates, as a step whose value is the other aggregate."""
    read, write = reader(kept), writer(kept, _WHAT)
    first = _same if is_reduce else None
    if read is None:
        return _step(code, None, write, maker, first)
    both = _step(code, read, write, maker, None)
    return lambda key, other, one: first(other) if one is None and first else both(key, read(other), one)


def start_of(start: Start | None, kept: TypeCode | None, maker: Maker) -> Callable[[], Any]:
    """Return a function that returns the initial value of an aggregate."""
    write = writer(kept, _WHAT) or _same
    if start is None:
        return lambda: None
    if start.make is None:
        value = write(start.value)
        return lambda: value
    make = _called(start.make, maker)
    return lambda: write(make())


def _same(value: Any) -> Any:
    return value


def _called(code: UserCode, maker: Maker) -> Callable[..., Any]:
    return made_call(code.call, "aggregates", maker) if code.is_factory else code.call


def _taken(code: UserCode, call: Callable[..., Any]) -> tuple[Part, ...]:
    """Return the arguments of a function; whether one from a factory takes the key is known only now."""
    count = required_parameters(call) if code.is_factory else None
    return code.takes[-count:] if count else code.takes


def _step(
    code: UserCode, read: Convert | None, write: Convert | None, maker: Maker, first: Convert | None
) -> Step:
    """Return a step; `first` makes the aggregate where there is none yet."""
    call = _called(code, maker)
    read, write = read or _same, write or _same
    match _taken(code, call):
        case ("key", "value", "aggregate"):
            step: Step = lambda key, value, kept: write(call(key, value, read(kept)))
        case ("value", "aggregate"):
            step = lambda key, value, kept: write(call(value, read(kept)))
        case ("key", "aggregate", "value"):
            step = lambda key, value, kept: write(call(key, read(kept), value))
        case ("aggregate", "value"):
            step = lambda key, value, kept: write(call(read(kept), value))
        case ("aggregate",):
            step = lambda key, value, kept: write(call(read(kept)))
        case _:
            raise ValueError(f"a step cannot take {code.takes}")
    if first is None:
        return step
    return lambda key, value, kept: first(value) if kept is None else step(key, value, kept)

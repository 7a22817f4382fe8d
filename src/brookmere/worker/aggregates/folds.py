"""Turns the user's functions of an aggregate into functions of values as the store keeps them."""

# ruff: noqa: ARG005, E731 - all steps are called in one way

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brookmere.worker.aggregates.definitions import Fold, Part, Start, UserCode
from brookmere.worker.functions.calls import made_call, required_parameters
from brookmere.worker.protocol.stage_code import Runtime, TypeCode
from brookmere.worker.types.python_values import reader, writer

Step = Callable[[Any, Any, Any], Any]
"""The aggregate after one more value: of key, value and the aggregate before."""
Convert = Callable[[Any], Any]

_WHAT = "the aggregate"


class Folding:
    """A fold at work.

    Aggregates stand in the store as they travel. The user's function gets a value of its own each time, so
    it may change that in place.
    """

    __slots__ = ("is_reduce", "merge", "start", "step")

    def __init__(self, fold: Fold, kept: TypeCode | None, runtime: Runtime) -> None:
        read, write = reader(kept), writer(kept, _WHAT)
        self.is_reduce = fold.initial is None
        self.start: Callable[[], Any] = _start(fold.initial, write, runtime)
        first = None if fold.initial is not None else (write or _same)
        self.step: Step = _step(fold.step, read, write, runtime, first)
        self.merge: Step = _merge(fold, read, write, runtime)


def step_of(code: UserCode, kept: TypeCode | None, runtime: Runtime) -> Step:
    """Return a single step of an aggregate of the type `kept`."""
    return _step(code, reader(kept), writer(kept, _WHAT), runtime, None)


def _same(value: Any) -> Any:
    return value


def _start(start: Start | None, write: Convert | None, runtime: Runtime) -> Callable[[], Any]:
    write = write or _same
    if start is None:
        return lambda: None
    if start.make is None:
        value = write(start.value)
        return lambda: value
    make = _called(start.make, runtime)
    return lambda: write(make())


def _called(code: UserCode, runtime: Runtime) -> Callable[..., Any]:
    if not code.is_factory:
        return code.call
    return made_call(code.call, "aggregates", runtime)


def _taken(code: UserCode, call: Callable[..., Any]) -> tuple[Part, ...]:
    """Return what a function is given; one that was made tells itself, and the key is what it may leave."""
    count = required_parameters(call) if code.is_factory else None
    return code.takes[-count:] if count else code.takes


def _step(
    code: UserCode, read: Convert | None, write: Convert | None, runtime: Runtime, first: Convert | None
) -> Step:
    """Return the step over kept values; `first` makes the aggregate where there is none yet."""
    call = _called(code, runtime)
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


def _merge(fold: Fold, read: Convert | None, write: Convert | None, runtime: Runtime) -> Step:
    """Return the merger of two kept values: of key, the other and the one."""
    # Sessions of a reduce are merged by its function.
    code = fold.merger or fold.step
    first = _same if fold.initial is None else None
    if read is None:
        return _step(code, None, write, runtime, first)
    both = _step(code, read, write, runtime, None)
    return lambda key, other, one: first(other) if one is None and first else both(key, read(other), one)

"""Inspection of user functions: their parameters, and the type they return."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import AsyncIterable, Callable, Iterable
from functools import partial
from typing import Any

from brookmere.worker.functions.calls import POSITIONAL, required_parameters


def is_called(kind: type) -> bool:
    """Return whether the instances of a class are callable."""
    return any("__call__" in vars(parent) for parent in kind.__mro__)


def is_asynchronous(call: Callable[..., Any]) -> bool:
    """Return whether a function, or the instances of a class, are `async def`."""
    functions = (call, getattr(call, "__call__", None))  # noqa: B004
    tests = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(test(function) for function in functions for test in tests)


def has_asynchronous_steps(kind: type) -> bool:
    """Return whether a class has an `async def` open() or close()."""
    return any(inspect.iscoroutinefunction(getattr(kind, step, None)) for step in ("open", "close"))


def called(call: Callable[..., Any], *, is_factory: bool) -> Callable[..., Any] | None:
    """Return the function that receives the records; None if only the factory knows it."""
    if not is_factory:
        return call
    made = call if isinstance(call, type) else _hint(call)
    return getattr(made, "__call__", None) if isinstance(made, type) and is_called(made) else None  # noqa: B004


def takes_anything(call: Callable[..., Any]) -> bool:
    """Return whether a function with a known signature has positional parameters."""
    return any(p.kind in POSITIONAL for p in inspect.signature(call).parameters.values())


def record_parameters(call: Callable[..., Any], *, is_factory: bool) -> int | None:
    """Return how many arguments the function that receives the records requires, if known."""
    function = called(call, is_factory=is_factory)
    count = None if function is None else required_parameters(function)
    # For a class it is the method, whose first parameter is the instance.
    return count - 1 if count and is_factory else count


def returned(call: Callable[..., Any], *, is_factory: bool) -> object | None:
    """Return the annotation of what a function returns, without `| None`; None if it has none."""
    if not is_factory and isinstance(call, type):
        return call
    function = called(call, is_factory=is_factory)
    return None if function is None else without_none(_hint(function))


def without_none(hint: object) -> object | None:
    """Return T of `T | None`."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        choices = [choice for choice in typing.get_args(hint) if choice is not types.NoneType]
        return choices[0] if len(choices) == 1 else hint
    return None if hint is types.NoneType or hint is Any else hint


def element(hint: object) -> object | None:
    """Return T of `list[T]`, `Iterator[T]` and the like; None for anything else."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    many = (Iterable, AsyncIterable)
    is_many = isinstance(origin, type) and issubclass(origin, many) and not issubclass(origin, dict)
    return without_none(arguments[0]) if is_many and arguments else None


def pair(hint: object) -> tuple[object, object] | None:
    """Return (K, V) of `tuple[K, V]`, or of a pair of types; None for anything else."""
    parts = hint if isinstance(hint, tuple) else typing.get_args(hint)
    if not isinstance(hint, tuple) and typing.get_origin(hint) is not tuple:
        return None
    key, value = (without_none(part) for part in parts) if len(parts) == 2 else (None, None)
    return None if key is None or value is None else (key, value)


def _hint(call: Callable[..., Any]) -> object | None:
    while isinstance(call, partial):
        call = call.func
    if not isinstance(call, type) and not hasattr(call, "__code__") and not hasattr(call, "__wrapped__"):
        # A callable object is annotated on its method.
        call = getattr(type(call), "__call__", call)  # noqa: B004
    try:
        return typing.get_type_hints(call).get("return")
    except (NameError, TypeError):
        # Types defined inside a function cannot be resolved from outside.
        return None

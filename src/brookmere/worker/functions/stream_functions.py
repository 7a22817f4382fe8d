"""Runs Python functions over the records of a stream: map, filter, flat_map, select_key and branch."""

# ruff: noqa: ARG002 - all operators take answers by methods of one form

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from brookmere.worker.functions.ahead import Answers, ahead_of
from brookmere.worker.functions.calls import AsyncCalls, Call, UserFunction, record_call
from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime
from brookmere.worker.types.returned_values import writer
from brookmere.worker.types.scalars import truth

__all__ = [
    "AsyncCalls",
    "BranchWork",
    "FilterWork",
    "FlatMapValuesWork",
    "FlatMapWork",
    "MapValuesWork",
    "MapWork",
    "SelectKeyWork",
    "UserFunction",
]


class _Step(Running):
    """Calls the function for a record, and handles the result as the operator does."""

    _call: Call

    def __init__(self, function: UserFunction, node: NodeCode, runtime: Runtime) -> None:
        self.function = function
        self.out = runtime.output(node)

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:
        self.give(key, value, self._call(key, value, ts), ts, headers)

    def give(self, key: Any, value: Any, answer: Any, ts: int, headers: Any) -> None:
        """Forward the results of a call."""
        raise NotImplementedError

    def ready(self, node: NodeCode, runtime: Runtime, answers: Answers) -> Running:
        """Return the node that calls the function for each record, or for many records at once."""
        if self.function.batch is None and self.function.calls is None:
            self._call = record_call(self.function, node, runtime)
            return self
        return ahead_of(self.function, self.give, answers, node, runtime)


class _MapValues(_Step):
    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:
        self.out.forward(key, self._call(key, value, ts), ts, headers)

    def give(self, key: Any, value: Any, answer: Any, ts: int, headers: Any) -> None:
        self.out.forward(key, answer, ts, headers)


class _SelectKey(_Step):
    def give(self, key: Any, value: Any, answer: Any, ts: int, headers: Any) -> None:
        self.out.forward(answer, value, ts, headers)


class _Map(_Step):
    def give(self, key: Any, value: Any, answer: Any, ts: int, headers: Any) -> None:
        new_key, new_value = pair(self.function, answer)
        self.out.forward(new_key, new_value, ts, headers)


class _Several(_Step):
    """Sends any number of records. All are checked before the first is sent."""

    def __init__(self, function: UserFunction, node: NodeCode, runtime: Runtime) -> None:
        super().__init__(function, node, runtime)
        self._check_key = writer(node.out_key, "the key") or _anything
        self._check_value = writer(node.out_value, "the value") or _anything


class _FlatMap(_Several):
    def give(self, key: Any, value: Any, answer: Any, ts: int, headers: Any) -> None:
        pairs = [pair(self.function, item) for item in _items(self.function, answer)]
        if len(pairs) > 1:
            for new_key, new_value in pairs:
                self._check_key(new_key)
                self._check_value(new_value)
        for new_key, new_value in pairs:
            self.out.forward(new_key, new_value, ts, headers)


class _FlatMapValues(_Several):
    def give(self, key: Any, value: Any, answer: Any, ts: int, headers: Any) -> None:
        items = _items(self.function, answer)
        if len(items) > 1:
            for item in items:
                self._check_value(item)
        for item in items:
            self.out.forward(key, item, ts, headers)


class _Filter(_Step):
    kept = True

    def give(self, key: Any, value: Any, answer: Any, ts: int, headers: Any) -> None:
        if holds(self.function, answer) is self.kept:
            self.out.forward(key, value, ts, headers)


class _FilterNot(_Filter):
    kept = False


class _Branch(Running):
    def __init__(self, work: BranchWork, node: NodeCode, runtime: Runtime) -> None:
        outs = [runtime.output(node).to(child) for child in work.children]
        calls = [record_call(function, node, runtime) for function in work.functions]
        self._tests = list(zip(work.functions, calls, outs, strict=False))
        self._default = outs[len(calls)] if len(outs) > len(calls) else None
        self._runtime = runtime
        self._number = node.number

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:
        for function, call, out in self._tests:
            if holds(function, call(key, value, ts)):
                out.forward(key, value, ts, headers)
                return
        if self._default is None:
            self._runtime.count_dropped(self._number)
        else:
            self._default.forward(key, value, ts, headers)


def pair(function: UserFunction, answer: Any) -> tuple[Any, Any]:
    """Return the key and the value that a function returned."""
    if type(answer) is tuple and len(answer) == 2:
        return answer
    if isinstance(answer, tuple) and len(answer) == 2:
        return answer[0], answer[1]
    raise function.wrong("a key and a value", answer, "return a tuple, for example `return value.id, value`")


def holds(function: UserFunction, answer: Any) -> bool:
    """Return the result of a predicate."""
    if answer is True or answer is False:
        return answer
    found = truth(answer)
    if found is None:
        raise function.wrong("True or False", answer, "compare, or use bool(...)")
    return found


def _items(function: UserFunction, answer: Any) -> list[Any]:
    """Return the elements of a result, all before the first is sent; None has none."""
    if answer is None:
        return []
    if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | dict):
        raise function.wrong("a list or another iterable", answer, "return a list, or write a generator")
    return list(answer)


def _anything(value: Any) -> None:
    """Accept a value of an unknown type."""


@dataclass(frozen=True, slots=True)
class MapWork:
    """The function returns the pair (new key, new value)."""

    function: UserFunction

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        return _Map(self.function, node, runtime).ready(node, runtime, "pairs")


@dataclass(frozen=True, slots=True)
class MapValuesWork:
    """The function returns the new value."""

    function: UserFunction

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        return _MapValues(self.function, node, runtime).ready(node, runtime, "values")


@dataclass(frozen=True, slots=True)
class SelectKeyWork:
    """The function returns the new key."""

    function: UserFunction

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        return _SelectKey(self.function, node, runtime).ready(node, runtime, "keys")


@dataclass(frozen=True, slots=True)
class FlatMapWork:
    """The function returns pairs of a new key and a new value, as many as it likes."""

    function: UserFunction

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        return _FlatMap(self.function, node, runtime).ready(node, runtime, "lists")


@dataclass(frozen=True, slots=True)
class FlatMapValuesWork:
    """The function returns new values, as many as it likes."""

    function: UserFunction

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        return _FlatMapValues(self.function, node, runtime).ready(node, runtime, "lists")


@dataclass(frozen=True, slots=True)
class FilterWork:
    """Keeps the records for which the function returns True, or, negated, False."""

    function: UserFunction
    negate: bool = False

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        step = _FilterNot if self.negate else _Filter
        return step(self.function, node, runtime).ready(node, runtime, "tests")


@dataclass(frozen=True, slots=True)
class BranchWork:
    """`children[i]` gets what function i accepts first; one child more than functions is the default."""

    functions: tuple[UserFunction, ...]
    children: tuple[str, ...]

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        return _Branch(self, node, runtime)

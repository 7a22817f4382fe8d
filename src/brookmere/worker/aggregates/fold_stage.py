"""Makes the calls that a stage of aggregates needs for a chunk of records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol

from brookmere.worker.aggregates.fold_code import FoldCode, FoldFunction
from brookmere.worker.aggregates.folds import Step, merger_of, start_of, step_of
from brookmere.worker.functions.calls import Maker
from brookmere.worker.task.failures import FAILURES, described
from brookmere.worker.types.python_values import reader

Answer = tuple[list[Any], list[Any] | None, tuple[str, str, str] | None]
"""Results, the initial values they started from if the kernel wants them, and the failure that ended them."""


class Process(Maker, Protocol):
    """Makes functions once per process, and gets their exceptions."""

    def heard(self, error: BaseException) -> None:
        """Take note of an exception of user code."""
        ...


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls of functions in order, as columns: one row for each call.

    `befores` and `merged` are positions of aggregates: 0 is none, then come those in `stored`, then the
    results of the calls. `records` are positions in `keys`, `values` and `olds`; None if each record makes
    one call. `functions` is a single number if all calls are of one function.
    """

    functions: int | list[int]
    records: list[int] | None
    befores: list[int]
    merged: list[int] | None
    stored: list[Any]
    keys: list[Any] | None
    values: list[Any]
    olds: list[Any] | None

    def function(self, at: int) -> int:
        """Return the function of a call."""
        return self.functions if isinstance(self.functions, int) else self.functions[at]

    def column(self, values: list[Any] | None) -> Iterable[Any]:
        """Return a column of the records as one of the calls."""
        if values is None:
            return repeat(None, len(self.befores))
        return values if self.records is None else map(values.__getitem__, self.records)


class FoldStage:
    """The functions of a stage, ready to be called. It keeps nothing between chunks."""

    def __init__(self, code: FoldCode, process: Process) -> None:
        self._functions = [_Function(each, process) for each in code.functions]
        self._returns_initial = any(each.returns_initial for each in code.functions)
        self._process = process

    def run(self, calls: Calls) -> Answer:
        """Make the calls, up to the first that fails or returns a None that the kernel did not expect."""
        aggregates = [None, *calls.stored]
        first = len(aggregates)
        initials: list[Any] | None = None
        failed = None
        try:
            if isinstance(calls.functions, int) and self._functions[calls.functions].is_plain:
                _run_steps(self._functions[calls.functions], calls, aggregates)
            else:
                initials = [] if self._returns_initial else None
                self._run_mixed(calls, aggregates, initials)
        except FAILURES as error:
            self._process.heard(error)
            number = calls.function(len(aggregates) - first)
            failed = described(error, self._functions[number].where)
        return aggregates[first:], initials, failed

    def _run_mixed(self, calls: Calls, aggregates: list[Any], initials: list[Any] | None) -> None:
        functions = self._functions
        merged = calls.merged or [0] * len(calls.befores)
        columns = (calls.column(calls.keys), calls.column(calls.values), calls.column(calls.olds))
        for at, (before, key, value, old) in enumerate(zip(calls.befores, *columns, strict=True)):
            function = functions[calls.function(at)]
            match function.kind:
                case "step":
                    taken = function.read_value(value)
                case "subtract":
                    taken = function.read_value(old)
                case "merge":
                    taken = aggregates[merged[at]]
            kept, initial = aggregates[before], None
            if kept is None:
                kept = initial = function.start()
            after = function.call(function.read_key(key), taken, kept)
            if initials is not None:
                initials.append(initial)
            aggregates.append(after)
            if after is None and function.stops_at_none:
                return


class _Function:
    """A function, ready to be called with aggregates as the kernel sends them."""

    def __init__(self, code: FoldFunction, process: Process) -> None:
        self.kind = code.kind
        self.where = code.code.where
        self.stops_at_none = code.stops_at_none
        self.is_plain = code.kind == "step" and not code.stops_at_none and not code.returns_initial
        self.start = start_of(code.initial, code.kept, process)
        is_reduce = code.initial is None and code.kind != "subtract"
        make = merger_of if code.kind == "merge" else step_of
        self.call: Step = make(code.code, code.kept, process, is_reduce=is_reduce)
        self.converts_key, self.converts_value = reader(code.key), reader(code.value)
        self.read_key = self.converts_key or _same
        self.read_value = self.converts_value or _same


def _run_steps(function: _Function, calls: Calls, aggregates: list[Any]) -> None:
    """Make calls of one step: the loop that most aggregates spend their time in."""
    call, start, add = function.call, function.start, aggregates.append
    # Each call gets objects of its own, which it may change.
    keys, values = calls.column(calls.keys), calls.column(calls.values)
    if function.converts_key is not None:
        keys = map(function.converts_key, keys)
    if function.converts_value is not None:
        values = map(function.converts_value, values)
    for key, value, before in zip(keys, values, calls.befores, strict=True):
        kept = aggregates[before]
        add(call(key, value, start() if kept is None else kept))


def _same(value: Any) -> Any:
    return value

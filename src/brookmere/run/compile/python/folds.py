"""Adds aggregates with Python functions: the kernel's own operators, which call the functions in a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from brookmere.dsl.functions.signatures import record_parameters
from brookmere.errors import ExpressionError, Fault
from brookmere.plan.stages import Plan
from brookmere.run.compile.python.types import SerdeType, returned
from brookmere.run.expressions.columns import REDUCER, STEP, Signatures
from brookmere.run.program_builder import (
    EmissionSpec,
    Place,
    ProgramBuilder,
    PythonFoldSpec,
    SessionWindowSpec,
    SlidingWindowSpec,
    StoreSpec,
    TimedStoreSpec,
    TimeWindowSpec,
)
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import PythonFunction
from brookmere.topology.windows import FOREVER, SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows
from brookmere.worker.aggregates import FoldFunction, Kind, Start, UserCode
from brookmere.worker.protocol.stage_code import TypeCode
from brookmere.worker.types.python_values import writer

Aggregates = op.Aggregate | op.TableAggregate | op.WindowAggregate

_NONE = -1
"""The number of a function that an aggregate does not have."""
_WITHOUT_KEY = 2
"""The parameters of a step or a reducer that takes the value and the aggregate."""


@dataclass(slots=True)
class Folds:
    """Adds the aggregates, and collects their functions by stage."""

    plan: Plan
    builder: ProgramBuilder
    serde_type: SerdeType
    _functions: dict[int, list[tuple[ProcessorNode, int, FoldFunction]]] = field(default_factory=dict)

    def add(
        self,
        node: ProcessorNode,
        at: Place,
        kind: Callable[[str], str],
        key: TypeCode,
        value: TypeCode,
    ) -> TypeCode:
        """Add an aggregate of such keys and values; return the type that it keeps.

        `kind` returns how a store keeps its rows.
        """
        o = cast(Aggregates, node.operator)
        step, other, other_kind = _functions(o)
        kept = self._kept(step, o.initial, value)
        signatures = REDUCER if o.initial is None else STEP
        first = _start(o.initial, step, kept)
        code = _code(step, signatures)
        number = self._number(node, at, FoldFunction("step", code, first, key, value, kept))
        other_number = _NONE
        if other is not None:
            code = _code(other, REDUCER if other_kind == "merge" else signatures)
            other_number = self._number(node, at, FoldFunction(other_kind, code, first, key, value, kept))
        takes_key = any("key" in f.code.takes for _, _, f in self._functions[at.stage])
        fold = PythonFoldSpec(number, other_number, kept.json, first is not None, takes_key)
        if isinstance(o, op.WindowAggregate):
            self._add_windows(o, at, kind(o.store), fold)
        else:
            self.builder.python_aggregate(at, StoreSpec(o.store, kind(o.store)), fold, o.send_old)
        return kept

    def functions(self, last_per_batch: bool) -> dict[int, list[tuple[ProcessorNode, FoldFunction]]]:
        """Return the functions of each stage by number, with the nodes that call them."""
        return {
            stage: [
                (node, replace(function, returns_initial=self._returns_initial(node, number, last_per_batch)))
                for node, number, function in added
            ]
            for stage, added in self._functions.items()
        }

    def _returns_initial(self, node: ProcessorNode, number: int, last_per_batch: bool) -> bool:
        o = cast(Aggregates, node.operator)
        return o.send_old and not (last_per_batch and not self.builder.is_hurried(number))

    def _number(self, node: ProcessorNode, at: Place, function: FoldFunction) -> int:
        o = node.operator
        if isinstance(o, op.TableAggregate) or (
            isinstance(o, op.WindowAggregate) and isinstance(o.windows, SlidingWindows | SessionWindows)
        ):
            function = replace(function, stops_at_none=True)
        functions = self._functions.setdefault(at.stage, [])
        functions.append((node, at.number, function))
        return len(functions) - 1

    def _kept(self, step: PythonFunction, initial: op.Initial | None, value: TypeCode) -> TypeCode:
        if initial is not None or step.returns is not None:
            return returned(step, self.serde_type)
        # A reducer makes one value of two of the same type.
        return value

    def _add_windows(self, o: op.WindowAggregate, at: Place, kind: str, fold: PythonFoldSpec) -> None:
        retention = self.plan.topology.store(o.store).retention_ms
        store = TimedStoreSpec(o.store, kind, FOREVER if retention is None else retention)
        emission = EmissionSpec(o.send_old, o.emit == "close", o.emit_all, o.skip_nulls)
        builder = self.builder
        match o.windows:
            case TimeWindows(size_ms=size, advance_ms=advance, grace_ms=grace):
                windows = TimeWindowSpec(size, advance, grace, 0)
                builder.python_time_windows(at, store, fold, emission, windows)
            case SlidingWindows(difference_ms=difference, grace_ms=grace):
                builder.python_sliding_windows(
                    at, store, fold, emission, SlidingWindowSpec(difference, grace)
                )
            case SessionWindows(gap_ms=gap, grace_ms=grace):
                builder.python_session_windows(at, store, fold, emission, SessionWindowSpec(gap, grace))
            case UnlimitedWindows(start_ms=start):
                windows = TimeWindowSpec(FOREVER, FOREVER, 0, start)
                builder.python_time_windows(at, store, fold, emission, windows)
        if o.idle_after_ms is not None:
            builder.close_idle(at.number, o.idle_after_ms)


def _functions(o: Aggregates) -> tuple[PythonFunction, PythonFunction | None, Kind]:
    """Return the step, and what takes values out of an aggregate or merges two."""
    if isinstance(o, op.TableAggregate):
        return cast(PythonFunction, o.adder), cast(PythonFunction, o.subtractor), "subtract"
    step = cast(PythonFunction, o.step)
    if not isinstance(o, op.WindowAggregate) or not isinstance(o.windows, SessionWindows):
        return step, None, "merge"
    # Sessions of a reduce are merged by its function.
    return step, cast(PythonFunction, o.merger or step), "merge"


def _start(initial: op.Initial | None, step: PythonFunction, kept: TypeCode) -> Start | None:
    if initial is None:
        return None
    if isinstance(initial, op.Literal):
        _check_initial(initial.value, step, kept)
        return Start(initial.value)
    return Start(make=UserCode(initial.call, (), getattr(initial, "is_factory", False)))


def _check_initial(value: object, step: PythonFunction, kept: TypeCode) -> None:
    check = writer(kept, "The initial value of aggregate")
    try:
        if check is not None:
            check(value)
    except (TypeError, ValueError) as error:
        what, _, remedy = str(error).partition("; ")
        raise ExpressionError([Fault(what, str(step.location), remedy.capitalize())]) from error


def _code(function: PythonFunction, signatures: Signatures) -> UserCode:
    count = record_parameters(function.call, is_factory=function.is_factory)
    if count is None:
        # A factory may return a function of all parameters; one of unknown parameters takes no key.
        count = max(signatures) if function.is_factory else _WITHOUT_KEY
    where = f"{function.role} at {function.location}"
    return UserCode(function.call, cast(Any, signatures[count]), function.is_factory, where)

"""Adds aggregates with Python functions: the kernel's own operators, which call the functions in a worker."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from brookmere.dsl.functions.signatures import record_parameters
from brookmere.errors import ExpressionError, Fault
from brookmere.plan.stages import Plan
from brookmere.run.compile.python.types import SerdeType, returned
from brookmere.run.expressions.columns import REDUCER, STEP, Signatures
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import PythonFunction
from brookmere.topology.windows import FOREVER, SessionWindows, SlidingWindows, TimeWindows
from brookmere.worker.aggregates import FoldFunction, Kind, Start, UserCode
from brookmere.worker.protocol.stage_code import TypeCode
from brookmere.worker.types.python_values import writer

Aggregates = op.Aggregate | op.TableAggregate | op.WindowAggregate
At = tuple[int, str, int, list[int]]

_WITHOUT_KEY = 2
"""The parameters of a step or a reducer that takes the value and the aggregate."""


@dataclass(slots=True)
class Folds:
    """Adds the aggregates, and collects their functions by stage."""

    plan: Plan
    builder: Any
    serde_type: SerdeType
    _functions: dict[int, list[tuple[ProcessorNode, int, FoldFunction]]] = field(default_factory=dict)

    def add(self, node: ProcessorNode, at: At, kind: str, key: TypeCode, value: TypeCode) -> TypeCode:
        """Add an aggregate of such keys and values; return the type that it keeps."""
        o = cast(Aggregates, node.operator)
        step, other, other_kind = _functions(o)
        kept = self._kept(step, o.initial, value)
        signatures = REDUCER if o.initial is None else STEP
        first = _start(o.initial, step, kept)
        code = _code(step, signatures)
        numbers = [self._number(node, at, FoldFunction("step", code, first, key, value, kept))]
        if other is not None:
            code = _code(other, REDUCER if other_kind == "merge" else signatures)
            numbers.append(self._number(node, at, FoldFunction(other_kind, code, first, key, value, kept)))
        else:
            numbers.append(-1)
        takes_key = any("key" in f.code.takes for _, _, f in self._functions[at[2]])
        functions = self.builder.pythonFold(*numbers, at[3], kept.json, first is not None, takes_key)
        if isinstance(o, op.WindowAggregate):
            self._windows(o, at, kind, functions)
        else:
            self.builder.pythonAggregate(*at, o.store, kind, functions, o.send_old)
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
        return o.send_old and not (last_per_batch and not self.builder.isHurried(number))

    def _number(self, node: ProcessorNode, at: At, function: FoldFunction) -> int:
        o = node.operator
        if isinstance(o, op.TableAggregate) or (
            isinstance(o, op.WindowAggregate) and isinstance(o.windows, SlidingWindows | SessionWindows)
        ):
            function = replace(function, stops_at_none=True)
        functions = self._functions.setdefault(at[2], [])
        functions.append((node, at[0], function))
        return len(functions) - 1

    def _kept(self, step: PythonFunction, initial: op.Initial | None, value: TypeCode) -> TypeCode:
        if initial is not None or step.returns is not None:
            return returned(step, self.serde_type)
        # A reducer makes one value of two of the same type.
        return value

    def _windows(self, o: op.WindowAggregate, at: At, kind: str, functions: Any) -> None:
        store = self.plan.topology.store(o.store)
        retention = FOREVER if store.retention_ms is None else store.retention_ms
        fold = self.builder.pythonFoldOf(at[1], at[3], o.store, functions)
        emission = self.builder.emission(o.send_old, o.emit == "close", o.emit_all, o.skip_nulls)
        common = (*at, kind, retention, fold, emission)
        match o.windows:
            case TimeWindows(size_ms=size, advance_ms=advance, grace_ms=grace):
                self.builder.timeWindows(*common, size, advance, grace, 0)
            case SlidingWindows(difference_ms=difference, grace_ms=grace):
                self.builder.slidingWindows(*common, difference, grace)
            case SessionWindows(gap_ms=gap, grace_ms=grace):
                self.builder.sessionWindows(*common, gap, grace)
            case _:
                self.builder.timeWindows(*common, FOREVER, FOREVER, 0, o.windows.start_ms)
        if o.close_idle_ms is not None:
            self.builder.closeIdle(at[0], o.close_idle_ms)


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
        # What a factory makes may take all there is; a function that does not tell takes no key.
        count = max(signatures) if function.is_factory else _WITHOUT_KEY
    where = f"{function.role} at {function.location}"
    return UserCode(function.call, cast(Any, signatures[count]), function.is_factory, where)

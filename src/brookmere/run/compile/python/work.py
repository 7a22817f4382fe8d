"""What a worker does for each operator with Python functions, and the types of what it sends.

`_WORKS` registers one function per operator class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from brookmere.dsl.functions.signatures import record_parameters
from brookmere.errors import ExpressionError, Fault, InternalError
from brookmere.run.compile.python.time_needs import time_needs
from brookmere.run.compile.python.types import SerdeType, returned, returned_element, returned_pair, typed
from brookmere.run.expressions.columns import REDUCER, STEP, Signatures
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import PythonFunction
from brookmere.topology.windows import FOREVER, SessionWindows, SlidingWindows, TimeWindows
from brookmere.worker import aggregates as agg
from brookmere.worker.functions import stream_functions as fn
from brookmere.worker.functions import table_functions as tables
from brookmere.worker.protocol.stage_code import ProcessWork, TypeCode, Work
from brookmere.worker.task.pass_through import PassWork
from brookmere.worker.types.python_values import writer

_WITHOUT_KEY = 2
"""The parameters of a step or a reducer that takes the value and the aggregate."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a node receives, and whether late records are sent on."""

    key: TypeCode
    value: TypeCode
    serde_type: SerdeType
    sends_late: bool = False


@dataclass(frozen=True, slots=True)
class Worked:
    """What a node does, and the types of what it sends; None where they are those that it receives."""

    work: Work
    key: TypeCode | None = None
    value: TypeCode | None = None


def work_of(node: ProcessorNode, into: Incoming) -> Worked:
    """Return what a Python node does."""
    make = _WORKS.get(type(node.operator))
    if make is None:
        raise InternalError(f"{type(node.operator).__name__}, node {node.name}, has no Python code")
    return make(node.operator, into)


def _map(o: op.Map, into: Incoming) -> Worked:
    function = _python(o.function)
    return Worked(fn.MapWork(_user(function)), *returned_pair(function, into.serde_type, many=False))


def _flat_map(o: op.FlatMap, into: Incoming) -> Worked:
    function = _python(o.function)
    return Worked(fn.FlatMapWork(_user(function)), *returned_pair(function, into.serde_type, many=True))


def _map_values(o: op.MapValues, into: Incoming) -> Worked:
    function = _python(o.function)
    return Worked(fn.MapValuesWork(_user(function)), None, returned(function, into.serde_type))


def _flat_map_values(o: op.FlatMapValues, into: Incoming) -> Worked:
    function = _python(o.function)
    return Worked(fn.FlatMapValuesWork(_user(function)), None, returned_element(function, into.serde_type))


def _select_key(o: op.SelectKey, into: Incoming) -> Worked:
    function = _python(o.function)
    return Worked(fn.SelectKeyWork(_user(function)), returned(function, into.serde_type), None)


def _filter(o: op.Filter, into: Incoming) -> Worked:  # noqa: ARG001 - all are made by functions of one form
    return Worked(fn.FilterWork(_user(_python(o.predicate)), o.negate))


def _branch(o: op.Branch, into: Incoming) -> Worked:  # noqa: ARG001
    functions = tuple(_user(_python(predicate)) for predicate in o.predicates)
    return Worked(fn.BranchWork(functions, o.children))


def _pass(o: op.PassThrough, into: Incoming) -> Worked:  # noqa: ARG001
    return Worked(PassWork())


def _table_map_values(o: op.TableMapValues, into: Incoming) -> Worked:
    function = _python(o.function)
    work = tables.TableMapValuesWork(_user(function), o.sees_null, o.send_old, o.store)
    return Worked(work, None, returned(function, into.serde_type))


def _table_filter(o: op.TableFilter, into: Incoming) -> Worked:  # noqa: ARG001
    return Worked(
        tables.TableFilterWork(_user(_python(o.predicate)), o.negate, o.versioned, o.send_old, o.store)
    )


def _table_group(o: op.TableGroup, into: Incoming) -> Worked:
    function = _python(o.function)
    work = tables.TableGroupWork(_user(function), o.versioned)
    return Worked(work, *returned_pair(function, into.serde_type, many=False))


def _aggregate(o: op.Aggregate, into: Incoming) -> Worked:
    value = _aggregate_type(_python(o.step), o.initial, into)
    return Worked(agg.AggregateWork(_fold(o, o.step, None, value), o.send_old), None, value)


def _table_aggregate(o: op.TableAggregate, into: Incoming) -> Worked:
    value = _aggregate_type(_python(o.adder), o.initial, into)
    subtractor = _code(_python(o.subtractor), REDUCER if o.initial is None else STEP)
    return Worked(agg.TableAggregateWork(_fold(o, o.adder, None, value), subtractor, o.send_old), None, value)


def _window_aggregate(o: op.WindowAggregate, into: Incoming) -> Worked:
    value = _aggregate_type(_python(o.step), o.initial, into)
    fold = _fold(o, o.step, o.merger, value)
    emission = agg.Emission(o.send_old, o.emit == "close", o.emit_all, o.skip_nulls, o.close_idle_ms)
    late = into.sends_late
    work: Work
    match o.windows:
        case TimeWindows(size_ms=size, advance_ms=advance, grace_ms=grace):
            work = agg.TimeWindowsWork(fold, emission, size, advance, grace, 0, late)
        case SlidingWindows(difference_ms=difference, grace_ms=grace):
            work = agg.SlidingWindowsWork(fold, emission, difference, grace, late)
        case SessionWindows(gap_ms=gap, grace_ms=grace):
            work = agg.SessionWindowsWork(fold, emission, gap, grace, late)
        case _:
            work = agg.TimeWindowsWork(fold, emission, FOREVER, FOREVER, 0, o.windows.start_ms, late)
    return Worked(work, windowed_key(into.key), value)


def _process(o: op.Process, into: Incoming) -> Worked:
    kinds = [
        None if spec is None else typed(spec, f"{name} that process() forwards", o.location, into.serde_type)
        for spec, name in ((o.key, "key"), (o.value, "value"))
    ]
    needs = time_needs(o.supplier)
    return Worked(ProcessWork(o.supplier, o.fixed_key, needs.stream_time, needs.wall_clock), *kinds)


_WORKS: dict[type, Callable[[Any, Incoming], Worked]] = {
    op.Map: _map,
    op.FlatMap: _flat_map,
    op.MapValues: _map_values,
    op.FlatMapValues: _flat_map_values,
    op.SelectKey: _select_key,
    op.Filter: _filter,
    op.Branch: _branch,
    op.PassThrough: _pass,
    op.TableMapValues: _table_map_values,
    op.TableFilter: _table_filter,
    op.TableGroup: _table_group,
    op.Aggregate: _aggregate,
    op.TableAggregate: _table_aggregate,
    op.WindowAggregate: _window_aggregate,
    op.Process: _process,
}


def windowed_key(key: TypeCode) -> TypeCode:
    """Return the type of a key with its window."""
    fields = ",".join(
        f'{{"name":"{name}","type":{kind},"nullable":true,"metadata":{{}}}}'
        for name, kind in (("key", key.json), ("start", '"long"'), ("end", '"long"'))
    )
    return TypeCode(f'{{"type":"struct","fields":[{fields}]}}', key.made, is_windowed=True)


def _aggregate_type(step: PythonFunction, initial: op.Initial | None, into: Incoming) -> TypeCode:
    if initial is not None or step.returns is not None:
        return returned(step, into.serde_type)
    # A reducer makes one value of two of the same type.
    return into.value


def _fold(
    o: op.Aggregate | op.TableAggregate | op.WindowAggregate,
    step: op.Fold,
    merger: op.Code | None,
    kept: TypeCode,
) -> agg.Fold:
    signatures = REDUCER if o.initial is None else STEP
    merge = None if merger is None else _code(_python(merger), REDUCER)
    return agg.Fold(o.store, _code(_python(step), signatures), _start(o.initial, _python(step), kept), merge)


def _start(initial: op.Initial | None, step: PythonFunction, kept: TypeCode) -> agg.Start | None:
    if initial is None:
        return None
    if isinstance(initial, op.Literal):
        _check_initial(initial.value, step, kept)
        return agg.Start(initial.value)
    return agg.Start(make=agg.UserCode(initial.call, (), getattr(initial, "is_factory", False)))


def _check_initial(value: object, step: PythonFunction, kept: TypeCode) -> None:
    check = writer(kept, "The initial value of aggregate")
    try:
        if check is not None:
            check(value)
    except (TypeError, ValueError) as error:
        what, _, remedy = str(error).partition("; ")
        raise ExpressionError([Fault(what, str(step.location), remedy.capitalize())]) from error


def _code(function: PythonFunction, signatures: Signatures) -> agg.UserCode:
    count = record_parameters(function.call, is_factory=function.is_factory)
    if count is None:
        # A factory may return a function of all parameters; one of unknown parameters takes no key.
        count = max(signatures) if function.is_factory else _WITHOUT_KEY
    where = f"{function.role} at {function.location}"
    return agg.UserCode(function.call, cast(Any, signatures[count]), function.is_factory, where)


def _python(function: object) -> PythonFunction:
    if isinstance(function, PythonFunction):
        return function
    # The plan refuses operators that are half Python, half Columns.
    raise InternalError(f"an operator mixes Python functions with {function!r}")


def _user(function: PythonFunction) -> fn.UserFunction:
    return fn.UserFunction(
        cast(Any, function.call),
        function.role,
        str(function.location),
        function.is_factory,
        function.batch,
        function.asynchronous,
    )

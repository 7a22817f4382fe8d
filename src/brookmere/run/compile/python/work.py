"""What a worker does for each operator with Python functions, and the types of what it sends.

`_WORKS` registers one function per operator class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from brookmere.errors import InternalError
from brookmere.run.compile.python.time_needs import time_needs
from brookmere.run.compile.python.types import SerdeType, returned, returned_element, returned_pair, typed
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import PythonFunction
from brookmere.worker.functions import stream_functions as fn
from brookmere.worker.functions import table_functions as tables
from brookmere.worker.protocol.stage_code import ProcessWork, TypeCode, Work
from brookmere.worker.task.pass_through import PassWork


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a node receives."""

    key: TypeCode
    value: TypeCode
    serde_type: SerdeType


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
    op.Process: _process,
}


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

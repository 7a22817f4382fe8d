"""process() and process_values(): the step that runs a user's processor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.functions.types import is_type, words_for
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import Step
from brookmere.dsl.processors.known_stores import KnownStores
from brookmere.dsl.processors.state_stores import StoreBuilder, stores_of
from brookmere.topology.assembly import Parts
from brookmere.topology.function import Location, fingerprint_of, here
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.operators import Process
from brookmere.topology.python_code import PythonFunction
from brookmere.worker.api.processor import Processor
from brookmere.worker.functions.calls import required_parameters

Supplier = Callable[[], Any]
"""A processor class, or a function without parameters that returns a processor."""

_REMEDY = "Pass a subclass of brookmere.Processor, or a function without parameters that returns an instance"


@dataclass(eq=False, kw_only=True)
class ProcessStep(Step):
    """Passes records to a user's processor and its stores."""

    operator: Process
    stores: tuple[str, ...]
    known: KnownStores

    def write(self, parts: Parts) -> None:
        """Write a processor with its stores. Global ones are available without being connected."""
        node = ProcessorNode(self.name, self.parent_names(), self.operator, location=self.location)
        write_processor(parts, node, self.operator, self.stores, self.known)


def write_processor(
    parts: Parts, node: ProcessorNode, operator: Process, stores: Iterable[str], known: KnownStores
) -> None:
    """Write a user-defined node with its stores: those it writes, and those it only reads."""
    names = tuple(stores)
    keeps = tuple(name for name in names if name in known.kept)
    reads = tuple(name for name in names if name not in known.kept)
    connected = tuple(name for name in names if name not in known.of_global_tables)
    parts.nodes.append(replace(node, operator=replace(operator, keeps=keeps, reads=reads), stores=connected))
    for name in names:
        if name in known.kept:
            parts.store(known.kept[name])


def process_step(
    graph: Graph,
    name: str,
    supplier: Supplier,
    *,
    fixed_key: bool,
    stores: object,
    key: object | None,
    value: object | None,
) -> ProcessStep:
    """Return the step of a processor, and add its stores to the program."""
    call = "process_values" if fixed_key else "process"
    made = made_by(call, supplier)
    check_types(graph, call, key, value)
    return ProcessStep(
        name=name,
        location=here(),
        operator=operator_of(supplier, fixed_key, key, value, here()),
        stores=connected(graph, (*stores_of(made.stores), *stores_of(stores))),
        known=graph.stores,
        may_change_keys=not fixed_key,
        value_changing=True,
    )


def operator_of(
    supplier: Supplier, fixed_key: bool, key: object | None, value: object | None, location: Location
) -> Process:
    """Return the operator that runs the processors of a supplier."""
    print = (*fingerprint_of(supplier), repr(key), repr(value))
    return Process(supplier, fixed_key, key, value, location, print)


def made_by(call: str, supplier: object) -> type[Processor]:
    """Return the class of a supplier's processors, after checking that they can run."""
    if isinstance(supplier, PythonFunction) or not callable(supplier):
        refuse(f"{call}() needs a processor class, found {supplier!r}", _REMEDY)
    if not isinstance(supplier, type):
        return _runnable(type(_first_of_two(call, supplier)))
    if required_parameters(supplier):
        name = supplier.__name__
        refuse(f"{name} cannot be created without arguments", f"Pass lambda: {name}(...)")
    return _runnable(supplier)


def _runnable(made: type) -> type[Processor]:
    if getattr(made, "process", Processor.process) is Processor.process:
        refuse(f"{made.__name__} has no method process(record)", _REMEDY)
    if not issubclass(made, Processor):
        refuse(f"{made.__name__} is not a subclass of brookmere.Processor", _REMEDY)
    for method in (made.init, made.process, made.close):
        if iscoroutinefunction(method) or isgeneratorfunction(method) or isasyncgenfunction(method):
            refuse(
                f"{made.__name__}.{method.__name__} is asynchronous or a generator, which "
                "processors do not support",
                "Write a plain method, and send records with self.context.forward(...)",
            )
    return made


def _first_of_two(call: str, supplier: Supplier) -> object:
    """Return the first of two processors, which must differ: tasks cannot share one."""
    if required_parameters(supplier):
        refuse(f"The supplier of {call}() takes parameters, found {supplier!r}", _REMEDY)
    try:
        first, second = supplier(), supplier()
    except Exception as error:  # noqa: BLE001 - whatever user code raises
        refuse(
            f"The supplier of {call}() failed: {type(error).__name__}: {error}",
            "Fix it; move what only works where the program runs into init() of the processor",
        )
    if first is second and isinstance(first, Processor):
        refuse(
            f"The supplier of {call}() returned the same {type(first).__name__} twice",
            "Create a new one on each call, because every task has its own",
        )
    return first


def check_types(graph: Graph, call: str, key: object | None, value: object | None) -> None:
    """Record a fault for each forwarded type that is not a type."""
    for role, spec in (("key", key), ("value", value)):
        if spec is not None and not is_type(spec):
            graph.fault(
                f"The {role} that {call}() forwards has no valid type: found {words_for(spec)}",
                'Pass a DDL string such as "a int, b string", a Python type, a dataclass or a serde',
            )


def declare(graph: Graph, builder: StoreBuilder) -> None:
    """Add a store that processors can name."""
    if not isinstance(builder, StoreBuilder):
        refuse(
            f"add_state_store() needs a store builder, found {builder!r}",
            "Pass for example brookmere.key_value_store(...)",
        )
    connected(graph, (builder,))


def connected(graph: Graph, stores: tuple[str | StoreBuilder, ...]) -> tuple[str, ...]:
    """Return the names of a processor's stores; builders among them are added to the program."""
    names = []
    for store in stores:
        if isinstance(store, StoreBuilder):
            graph.check_store(store.name, store.store_type)
            fault = graph.stores.add(store)
            if fault is not None:
                graph.faults.append(fault)
        names.append(store.name if isinstance(store, StoreBuilder) else store)
    return tuple(dict.fromkeys(names))

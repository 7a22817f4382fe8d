"""Turns process() and process_values() into a step whose records go to a processor of the user's own."""

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
"""A class of processors, or a function without parameters that makes one."""

_REMEDY = "Pass a class derived from brookmere.Processor, or a function without parameters that makes one"


@dataclass(eq=False, kw_only=True)
class ProcessStep(Step):
    """Hands records to a processor, which has some stores at hand."""

    operator: Process
    stores: tuple[str, ...]
    known: KnownStores

    def write(self, parts: Parts) -> None:
        """Write a processor with the stores it keeps. Global ones are there without being connected."""
        node = ProcessorNode(self.name, self.parent_names(), self.operator, location=self.location)
        write_processor(parts, node, self.operator, self.stores, self.known)


def write_processor(
    parts: Parts, node: ProcessorNode, operator: Process, stores: Iterable[str], known: KnownStores
) -> None:
    """Write a node of the user's own with its stores: those it keeps, and those it only reads."""
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
    """Return the step of a processor; its stores are known to the program from now on."""
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
    """Return the operator that hands records to what the supplier makes."""
    print = (*fingerprint_of(supplier), repr(key), repr(value))
    return Process(supplier, fixed_key, key, value, location, print)


def made_by(call: str, supplier: object) -> type[Processor]:
    """Return the class of the processors that a supplier makes, after a look whether they can be run."""
    if isinstance(supplier, PythonFunction) or not callable(supplier):
        refuse(f"{call}() takes a class of processors, found {supplier!r}", _REMEDY)
    if not isinstance(supplier, type):
        return _runnable(type(_first_of_two(call, supplier)))
    if required_parameters(supplier):
        name = supplier.__name__
        refuse(f"{name} cannot be made without arguments", f"Pass lambda: {name}(...)")
    return _runnable(supplier)


def _runnable(made: type) -> type[Processor]:
    if getattr(made, "process", Processor.process) is Processor.process:
        refuse(f"{made.__name__} has no method process(record)", _REMEDY)
    if not issubclass(made, Processor):
        refuse(f"{made.__name__} is not derived from brookmere.Processor", _REMEDY)
    for method in (made.init, made.process, made.close):
        if iscoroutinefunction(method) or isgeneratorfunction(method) or isasyncgenfunction(method):
            refuse(
                f"{made.__name__}.{method.__name__} is asynchronous or a generator, which nobody runs",
                "Write a plain method, and send records with self.context.forward(...)",
            )
    return made


def _first_of_two(call: str, supplier: Supplier) -> object:
    """Return what a function makes. Tasks that shared it would write into each other's stores."""
    if required_parameters(supplier):
        refuse(f"The supplier of {call}() takes parameters, found {supplier!r}", _REMEDY)
    try:
        first, second = supplier(), supplier()
    except Exception as error:  # noqa: BLE001 - whatever user code raises
        refuse(
            f"The supplier of {call}() failed: {type(error).__name__}: {error}",
            "Correct it; what only works where the program runs belongs into init() of the processor",
        )
    if first is second and isinstance(first, Processor):
        refuse(
            f"The supplier of {call}() returned the same {type(first).__name__} twice",
            "Make a new one at each call: every task has its own",
        )
    return first


def check_types(graph: Graph, call: str, key: object | None, value: object | None) -> None:
    """Note a fault for each type of what is forwarded that is none."""
    for role, spec in (("key", key), ("value", value)):
        if spec is not None and not is_type(spec):
            graph.fault(
                f"The {role} that {call}() forwards is no type: found {words_for(spec)}",
                'Pass a DDL string such as "a int, b string", a Python type, a dataclass or a serde',
            )


def declare(graph: Graph, builder: StoreBuilder) -> None:
    """Add a store to those that processors can name."""
    if not isinstance(builder, StoreBuilder):
        refuse(
            f"add_state_store() takes a store builder, found {builder!r}",
            "Pass for example brookmere.key_value_store(...)",
        )
    connected(graph, (builder,))


def connected(graph: Graph, stores: tuple[str | StoreBuilder, ...]) -> tuple[str, ...]:
    """Return the names of the stores of a processor; builders are added to those that are known."""
    names = []
    for store in stores:
        if isinstance(store, StoreBuilder):
            graph.check_store(store.name, store.store_type)
            fault = graph.stores.add(store)
            if fault is not None:
                graph.faults.append(fault)
        names.append(store.name if isinstance(store, StoreBuilder) else store)
    return tuple(dict.fromkeys(names))

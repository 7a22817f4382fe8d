"""Turns process() and process_values() into a step whose records go to a processor of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from brookmere.dsl.arguments import refuse
from brookmere.dsl.graph import Graph
from brookmere.dsl.known_stores import KnownStores
from brookmere.dsl.state_stores import StoreBuilder, stores_of
from brookmere.dsl.steps import Step
from brookmere.dsl.types import is_type, words_for
from brookmere.topology.assembly import Parts
from brookmere.topology.function import Location, fingerprint_of, here
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import Process, PythonFunction
from brookmere.worker.calling import required_parameters
from brookmere.worker.processor import Processor

Supplier = Callable[[], Any]
"""A class of processors, or a function without parameters that makes one."""


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
    reads = tuple(name for name in names if name not in known.kept)
    connected = tuple(name for name in names if name not in known.of_global_tables)
    parts.nodes.append(replace(node, operator=replace(operator, reads=reads), stores=connected))
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
    checked = supplier_of(call, supplier)
    check_types(graph, call, key, value)
    return ProcessStep(
        name=name,
        location=here(),
        operator=operator_of(checked, fixed_key, key, value, here()),
        stores=connected(graph, (*declared_stores(supplier), *stores_of(stores))),
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


def supplier_of(call: str, supplier: object) -> Supplier:
    """Return a class of processors or what makes one, after a look whether it is that."""
    remedy = "Pass a class derived from brookmere.Processor, or a function without parameters that makes one"
    if isinstance(supplier, PythonFunction) or not callable(supplier):
        refuse(f"{call}() takes a class of processors, found {supplier!r}", remedy)
    if isinstance(supplier, type):
        if getattr(supplier, "process", Processor.process) is Processor.process:
            refuse(f"{supplier.__name__} has no method process(record)", remedy)
        if required_parameters(supplier):
            made = f"lambda: {supplier.__name__}(...)"
            refuse(f"{supplier.__name__} cannot be made without arguments", f"Pass {made}")
    elif required_parameters(supplier):
        refuse(f"The supplier of {call}() takes parameters, found {supplier!r}", remedy)
    return supplier


def declared_stores(supplier: Supplier) -> tuple[str | StoreBuilder, ...]:
    """Return the stores that a class of processors brings along, in its attribute `stores`."""
    return stores_of(getattr(supplier, "stores", ()))


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

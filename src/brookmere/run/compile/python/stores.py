"""The stores of Python nodes: declared to the kernel, and described to the workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brookmere.errors import ExpressionError, Fault
from brookmere.plan.stages import Plan
from brookmere.run.compile.python.types import SerdeType, typed
from brookmere.run.program_builder import ProgramBuilder, PythonStoreSpec
from brookmere.topology import operators as op
from brookmere.topology.nodes import ProcessorNode, Store
from brookmere.topology.windows import FOREVER
from brookmere.worker.protocol.stage_code import StoreCode, TypeCode


@dataclass(slots=True)
class PythonStores:
    """Adds the stores of Python nodes, each once."""

    plan: Plan
    builder: ProgramBuilder
    serde_type: SerdeType
    numbers: dict[str, int] = field(default_factory=dict)
    """By store, the number of a node that sends what the store keeps."""
    _stores: dict[int, dict[str, StoreCode]] = field(default_factory=dict)

    def of(self, stage: int) -> tuple[StoreCode, ...]:
        """Return the stores of a stage, in the order in which the kernel knows them."""
        return tuple(self._stores.get(stage, {}).values())

    def has(self, stage: int, name: str) -> bool:
        """Return whether a stage has a store."""
        return name in self._stores.get(stage, {})

    def record(self, stage: int, store: StoreCode) -> None:
        """Add a store that the kernel already knows."""
        self._stores.setdefault(stage, {})[store.name] = store

    def add(
        self,
        node: ProcessorNode,
        number: int,
        stage: int,
        kind: Callable[[str], str],
        key: TypeCode,
        value: TypeCode,
    ) -> None:
        """Add the stores of a node that receives such keys and keeps, or sends, such values."""
        operator = node.operator
        for name in operator.kept_stores:
            if isinstance(operator, op.Process):
                self._add_own(node, operator, name, stage, kind(name))
            else:
                store = self.plan.topology.store(name)
                self._define(stage, store, kind(name), key, value)
                self.builder.python_table(number, name)

    def _add_own(self, node: ProcessorNode, o: op.Process, name: str, stage: int, kind: str) -> None:
        store = self.plan.topology.store(name)
        types = []
        for part, spec in (("key", store.key_type), ("value", store.value_type)):
            if spec is None:
                what = f"The store {name!r} of {node.name} does not say the type of its {part}s"
                raise ExpressionError([Fault(what, str(o.location), f"Give it {part}=, a serde or a type")])
            types.append(typed(spec, f"{part} of the store {name!r}", o.location, self.serde_type))
        self._define(stage, store, kind, *types)

    def _define(self, stage: int, store: Store, kind: str, key: TypeCode, value: TypeCode) -> None:
        stores = self._stores.setdefault(stage, {})
        if store.name in stores:
            return
        shape: Any = store.kind
        retention = FOREVER if store.retention_ms is None else store.retention_ms
        window = FOREVER if store.window_ms is None else store.window_ms
        spec = PythonStoreSpec(store.name, kind, key.json, value.json, shape, retention, window)
        self.numbers[store.name] = self.builder.python_store(stage, spec)
        stores[store.name] = StoreCode(store.name, shape, key, value, store.retention_ms, window)

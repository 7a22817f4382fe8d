"""Copies of tables in the stages of the Python processors that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql.types import StructType, _parse_datatype_json_string

from brookmere.plan.stages import Plan
from brookmere.run.compile.python.facets import Facets
from brookmere.run.compile.python.stores import PythonStores
from brookmere.run.compile.python.types import as_key
from brookmere.run.expressions.faults import explained
from brookmere.run.program_builder import ProgramBuilder
from brookmere.topology.nodes import ProcessorNode
from brookmere.worker.protocol.stage_code import NodeCode, StoreCode, TypeCode
from brookmere.worker.task.table_copies import CopyWork


@dataclass(slots=True)
class PythonReads:
    """Adds copies of tables, one for every stage that reads them."""

    plan: Plan
    builder: ProgramBuilder
    numbers: Mapping[str, int]
    stores: PythonStores
    facets: Facets
    _copies: dict[int, list[NodeCode]] = field(default_factory=dict)

    def of(self, stage: int) -> tuple[NodeCode, ...]:
        """Return the nodes of a stage that keep copies."""
        return tuple(self._copies.get(stage, ()))

    def add(self, node: ProcessorNode, stage: int) -> None:
        """Let a processor read its tables: as their own node keeps them in the stage, or as copies."""
        for name in node.operator.read_stores:
            if not self.stores.has(stage, name):
                with explained(f"the store {name!r} of {node.name}", str(node.location)):
                    self._copy(name, stage)

    def _copy(self, name: str, stage: int) -> None:
        table = self.plan.topology.keepers(name)[0]
        number = self.builder.python_copy(stage, self.numbers[table.name], name)
        facets = self.facets.of(table.name)
        key = as_key(facets[0].of(self.builder.key_type(number)))
        value = facets[1].of(self.builder.value_type(number))
        store = self.plan.topology.store(name)
        # A table is kept in one of these.
        kind: Any = store.kind
        kinds = (key, value, key, value)
        copy = NodeCode(
            number,
            table.name,
            CopyWork(name, kind),
            *kinds,
            is_table=True,
            sends_table=True,
            stores=(name,),
        )
        self._copies.setdefault(stage, []).append(copy)
        own = StoreCode(
            name, kind, _without_window(key), value, store.retention_ms, store.window_ms, is_read=True
        )
        self.stores.record(stage, own)


def _without_window(key: TypeCode) -> TypeCode:
    if not key.is_windowed:
        return key
    windowed = _parse_datatype_json_string(key.json)
    assert isinstance(windowed, StructType)
    return TypeCode(windowed["key"].dataType.json(), key.made)

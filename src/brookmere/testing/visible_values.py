"""The visible value of an aggregate, computed from what its store keeps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from brookmere.topology.nodes import ProcessorNode, Topology
from brookmere.topology.operators import Aggregate, TableAggregate, Top

Visible = Callable[[Any], Any]


def visible_of(topology: Topology, store: str) -> Visible:
    """Return the function that computes the visible value of a row of `store`."""
    serde = topology.store(store).value
    if serde is not None and serde.is_pickled:
        return serde.deserialize
    for step in _steps(topology, store):
        if isinstance(step, Top):
            return lambda rows: [row["value"] for row in rows[: step.limit]]
        if isinstance(step, tuple) and (averages := [one.name for one in step if one.kind == "avg"]):
            return lambda row: _averaged(row, averages)
    return lambda value: value


def _steps(topology: Topology, store: str) -> Iterator[object]:
    for node in topology.nodes:
        operator = node.operator if isinstance(node, ProcessorNode) else None
        if isinstance(operator, Aggregate) and operator.store == store:
            yield operator.step
        if isinstance(operator, TableAggregate) and operator.store == store:
            yield operator.adder


def _averaged(row: dict[str, Any], averages: Collection[str]) -> dict[str, Any]:
    # An average keeps its sum and count in extra fields whose names contain a dollar sign.
    hidden = {f"{name}${part}": name for name in averages for part in ("sum", "count")}
    shown: dict[str, Any] = {}
    for name, kept in row.items():
        column = hidden.get(name)
        if column is None:
            shown[name] = kept
        elif column not in shown:
            count = row[f"{column}$count"]
            shown[column] = kept / count if count else None
    return shown

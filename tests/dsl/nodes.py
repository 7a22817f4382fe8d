"""Find nodes of a topology."""

from __future__ import annotations

from typing import Any

from brookmere.topology.nodes import ProcessorNode, Topology
from brookmere.topology.operators import Operator


def processor(topology: Topology, name: str) -> ProcessorNode:
    (found,) = (node for node in topology.nodes if node.name == name)
    assert isinstance(found, ProcessorNode)
    return found


def operators(topology: Topology, kind: type[Operator]) -> list[Any]:
    nodes = [node for node in topology.nodes if isinstance(node, ProcessorNode)]
    return [node.operator for node in nodes if isinstance(node.operator, kind)]


def repartitions(topology: Topology) -> list[str]:
    return [repartition.topic for repartition in topology.repartitions]

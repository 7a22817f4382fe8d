"""Finds the stages that need an exchange before them."""

from __future__ import annotations

from collections.abc import Mapping

from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, Topology


def boundaries(topology: Topology, stage_of: Mapping[str, int]) -> set[int]:
    """Return the numbers of the stages before which rows are exchanged between tasks.

    These are the first stage that needs its tasks, and every stage that receives a repartition, unless an
    earlier exchange has already brought the records to their new tasks.
    """
    first = min((stage_of[node.name] for node in topology.nodes if _needs_task(node)), default=None)
    found = set() if first is None else {first}
    for sender, receiver in sorted(_repartitions(topology, stage_of), key=lambda edge: (edge[1], edge[0])):
        if not any(sender < boundary <= receiver for boundary in found):
            found.add(receiver)
    return found


def _needs_task(node: Node) -> bool:
    if not isinstance(node, ProcessorNode):
        return False
    operator = node.operator
    return bool(node.stores) or operator.lookup_table is not None or operator.has_timers


def _repartitions(topology: Topology, stage_of: Mapping[str, int]) -> set[tuple[int, int]]:
    receivers = {
        topic: stage_of[node.name]
        for node in topology.nodes
        if isinstance(node, SourceNode) and node.internal
        for topic in node.topics
    }
    return {
        (stage_of[node.name], receivers[node.topic])
        for node in topology.nodes
        if isinstance(node, SinkNode) and node.internal and isinstance(node.topic, str)
        if node.topic in receivers
    }

"""Turns the stages of nodes into the stages that an exchange stands in front of."""

from __future__ import annotations

from collections.abc import Mapping

from brookmere.plan.keeping import looked_into
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, Topology
from brookmere.topology.python_code import Process


def boundaries(topology: Topology, stage_of: Mapping[str, int]) -> set[int]:
    """Return the numbers of the stages whose rows travel to their tasks first.

    That is the first one that needs its tasks, and whatever receives a repartition, unless an exchange on the
    way has brought the records to their new tasks already.
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
    # A processor may have timers and variables of its own, which belong to a task.
    return bool(node.stores) or looked_into(node) is not None or isinstance(node.operator, Process)


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

"""Finds the aggregates whose records can be folded before they are sent to another task."""

from __future__ import annotations

from collections.abc import Mapping

from brookmere.plan.stages import Plan
from brookmere.topology.nodes import ProcessorNode, SinkNode, SourceNode
from brookmere.topology.operators import Aggregate
from brookmere.topology.python_code import is_python


def combinable(plan: Plan) -> Mapping[str, str]:
    """Return, by the name of an aggregate, the node in stage 0 before which its records are folded.

    That is the repartition before the aggregate, or the aggregate itself if there is none. The aggregate must
    be the only reader of the records and the only user of its store. Python folds are left as they are.
    """
    stages = plan.stage_of()
    found = {}
    for node in plan.topology.nodes:
        if (
            isinstance(node, ProcessorNode)
            and isinstance(node.operator, Aggregate)
            and not is_python(node)
            and stages[node.name] > 0
            and _owns_store(plan, node)
        ):
            sender = _sender(plan, node)
            if sender is not None and len(sender.parents) == 1 and stages[sender.parents[0]] == 0:
                found[node.name] = sender.name
    return found


def _owns_store(plan: Plan, node: ProcessorNode) -> bool:
    users = [
        n.name
        for n in plan.topology.nodes
        if isinstance(n, ProcessorNode) and set(n.stores) & set(node.stores)
    ]
    return users == [node.name]


def _sender(plan: Plan, node: ProcessorNode) -> ProcessorNode | SinkNode | None:
    nodes = plan.topology.nodes
    parent = plan.topology.node(node.parents[0])
    if not isinstance(parent, SourceNode):
        return node
    if not parent.internal:
        return None if parent.is_global else node
    readers = [n for n in nodes if not isinstance(n, SourceNode) and parent.name in n.parents]
    senders = [n for n in nodes if isinstance(n, SinkNode) and n.internal and n.topic in parent.topics]
    return senders[0] if len(readers) == len(senders) == 1 else None

"""Says which tables a processor looks into, and which stores it keeps."""

from __future__ import annotations

from brookmere.topology.join_operators import (
    GlobalJoin,
    ResponseJoin,
    StreamTableJoin,
    SubscriptionJoin,
    TableJoin,
)
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import Process


def looked_into(node: ProcessorNode) -> str | None:
    """Return the name of the node whose table a processor looks into, if it does."""
    match node.operator:
        case StreamTableJoin(table=table) | GlobalJoin(table=table):
            return table
        case TableJoin(other=other):
            return other
        case SubscriptionJoin(right=right):
            return right
        case ResponseJoin(left=left):
            return left
    return None


def kept(node: ProcessorNode) -> set[str]:
    """Return the stores that a processor keeps, without those it only looks into."""
    if isinstance(node.operator, Process):
        return set(node.stores) - set(node.operator.reads)
    if looked_into(node) is None:
        return set(node.stores)
    own = getattr(node.operator, "buffer", None)
    return {own} if own else set()

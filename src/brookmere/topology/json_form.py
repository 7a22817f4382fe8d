"""A topology as JSON, for tools."""

from __future__ import annotations

import json
from typing import Any

from brookmere.topology.describe import router_name
from brookmere.topology.nodes import Node, SinkNode, SourceNode, Store, Topology
from brookmere.topology.python_code import is_python


def to_json(topology: Topology) -> str:
    """Return the JSON text: sub-topologies with their nodes, then stores and repartitions."""
    return json.dumps(to_dict(topology), indent=2)


def to_dict(topology: Topology) -> dict[str, Any]:
    """Return the same as plain Python values."""
    by_name = {node.name: node for node in topology.nodes}
    return {
        "application_id": topology.application_id,
        "subtopologies": [
            {
                "number": part.number,
                "global": part.is_global,
                "nodes": [_node(by_name[name], topology) for name in part.nodes],
            }
            for part in topology.subtopologies
        ],
        "stores": [_store(store) for store in topology.stores],
        "repartitions": [{"topic": r.topic, "partitions": r.partitions} for r in topology.repartitions],
        "copartitioned": [list(group) for group in topology.copartitioned],
    }


def _node(node: Node, topology: Topology) -> dict[str, Any]:
    successors = [n.name for n in topology.nodes if not isinstance(n, SourceNode) and node.name in n.parents]
    if isinstance(node, SourceNode):
        reads = {"pattern": node.pattern} if node.pattern else {"topics": list(node.topics)}
        head = {"type": "source", "name": node.name, **reads, "internal": node.internal}
        return {**head, "successors": successors}
    if isinstance(node, SinkNode):
        router = router_name(node)
        target = {"topic": node.topic} if router is None else {"router": router}
        head = {"type": "sink", "name": node.name, **target, "internal": node.internal}
        return {**head, "predecessors": list(node.parents)}
    return {
        "type": "processor",
        "name": node.name,
        "operator": type(node.operator).__name__,
        **({"python": True} if is_python(node) else {}),
        "stores": list(node.stores),
        "predecessors": list(node.parents),
        "successors": successors,
    }


def _store(store: Store) -> dict[str, Any]:
    return {
        "name": store.name,
        "kind": store.kind,
        "store_type": store.store_type,
        "queryable": store.queryable,
        "global": store.is_global,
        "changelog": store.changelog,
        "retention_ms": store.retention_ms,
        "window_ms": store.window_ms,
    }

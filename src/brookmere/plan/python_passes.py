"""Moves merges and branches between Python nodes into the worker."""

from __future__ import annotations

from dataclasses import replace

from brookmere.topology import operators as op
from brookmere.topology.nodes import Node, ProcessorNode, SourceNode, Topology
from brookmere.topology.python_code import is_python


def with_python_passes(topology: Topology) -> Topology:
    """Return the topology with every node that only forwards records between Python nodes run in Python.

    Otherwise records would leave the worker for nothing, and each way out and back costs a stage. Nodes that
    forward the changes of a table stay in the kernel, where other nodes look up its rows.
    """
    chosen: dict[str, ProcessorNode] = {}
    nodes = {node.name: node for node in topology.nodes}
    children: dict[str, list[Node]] = {}
    for node in topology.nodes:
        for parent in () if isinstance(node, SourceNode) else node.parents:
            children.setdefault(parent, []).append(node)

    def is_in_python(node: Node) -> bool:
        return node.name in chosen or is_python(node)

    def leads_to_python(node: Node) -> bool:
        return any(
            is_python(child) or (_passes(child) and leads_to_python(child))
            for child in children.get(node.name, ())
        )

    # Parents come before their children.
    for node in topology.nodes:
        if (
            isinstance(node, ProcessorNode)
            and _passes(node)
            and all(is_in_python(nodes[p]) and not _is_table(nodes[p]) for p in node.parents)
            and leads_to_python(node)
        ):
            chosen[node.name] = replace(node, operator=op.PassThrough(in_python=True))
    if not chosen:
        return topology
    return replace(topology, nodes=tuple(chosen.get(n.name, n) for n in topology.nodes))


def _passes(node: Node) -> bool:
    return isinstance(node, ProcessorNode) and isinstance(node.operator, op.PassThrough)


def _is_table(node: Node) -> bool:
    return isinstance(node, ProcessorNode) and node.operator.sends == "changes"

"""A topology as a Mermaid flow chart: boxes are nodes, cylinders stores, dots repartitions."""

from __future__ import annotations

from brookmere.topology.describe import router_name
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, Topology


def to_mermaid(topology: Topology) -> str:
    """Return the chart, to be used in a Markdown file in a block marked mermaid."""
    ids = {node.name: f"n{number}" for number, node in enumerate(topology.nodes)}
    stores = {store.name: f"s{number}" for number, store in enumerate(topology.stores)}
    by_name = {node.name: node for node in topology.nodes}
    lines = ["flowchart TD"]
    for part in topology.subtopologies:
        nodes = [by_name[name] for name in part.nodes]
        title = f"Sub-topology {part.number}" + (" (global)" if part.is_global else "")
        lines.append(f'  subgraph t{part.number} ["{title}"]')
        lines += [f"    {ids[node.name]}{_box(node)}" for node in nodes]
        used = dict.fromkeys(s for node in nodes if isinstance(node, ProcessorNode) for s in node.stores)
        lines += [f'    {stores[name]}[("{_text(name)}")]' for name in used]
        lines.append("  end")
    return "\n".join([*lines, *_arrows(topology, ids, stores)]) + "\n"


def _arrows(topology: Topology, ids: dict[str, str], stores: dict[str, str]) -> list[str]:
    lines = []
    for node in topology.nodes:
        if isinstance(node, SourceNode):
            continue
        lines += [f"  {ids[parent]} --> {ids[node.name]}" for parent in node.parents]
        if isinstance(node, ProcessorNode):
            lines += [f"  {ids[node.name]} --- {stores[name]}" for name in node.stores]
    readers = [node for node in topology.nodes if isinstance(node, SourceNode) and node.internal]
    for sink in (node for node in topology.nodes if isinstance(node, SinkNode) and node.internal):
        lines += [f"  {ids[sink.name]} -.-> {ids[r.name]}" for r in readers if sink.topic in r.topics]
    return lines


def _box(node: Node) -> str:
    match node:
        case SourceNode(name=name, topics=topics, pattern=pattern):
            return f'(["{_text(name)}<br/>{_text(pattern or ", ".join(topics))}"])'
        case SinkNode(name=name, topic=topic) as sink:
            return f'(["{_text(name)}<br/>{_text(router_name(sink) or str(topic))}"])'
        case ProcessorNode(name=name):
            return f'["{_text(name)}"]'


def _text(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")

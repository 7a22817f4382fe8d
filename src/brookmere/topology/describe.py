"""The text of Kafka Streams' `Topology.describe()`, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable

from brookmere.topology.function import Function
from brookmere.topology.java_order import Tree, copied_order, grown_order
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, Subtopology, Topology


def describe(topology: Topology) -> str:
    """Return the text; sub-topologies are in the order of their numbers."""
    return "Topologies:\n " + "".join(f"  {_subtopology(part, topology)}" for part in topology.subtopologies)


def router_name(sink: SinkNode) -> str | None:
    """Return how the chooser of a dynamic sink is called; None for a sink with one topic."""
    if not isinstance(sink.topic, Function):
        return None
    if sink.router_name is not None:
        return sink.router_name
    return str(getattr(sink.topic.call, "__name__", type(sink.topic.call).__name__))


class _Box:
    """A node in the text. Nodes with more of the topology behind them come first."""

    def __init__(self, node: Node, position: int) -> None:
        self.node = node
        self.name = node.name
        self.position = position
        self.size = 1
        self.before: Tree[_Box] = Tree(_compare)
        self.after: Tree[_Box] = Tree(_compare)

    def grow(self, by: int) -> None:
        """Add to the size of this node and, once for each way to it, to the sizes of those before."""
        growth = {self: by}
        while growth:
            # Parents have lower positions, so the highest one has got all its growth by now.
            box = max(growth, key=lambda waiting: waiting.position)
            more = growth.pop(box)
            box.size += more
            for before in box.before:
                growth[before] = growth.get(before, 0) + more


def _compare(one: _Box, other: _Box) -> int:
    if one.name == other.name:
        return 0
    if one.size != other.size:
        return other.size - one.size
    return -1 if one.name < other.name else 1


def _subtopology(part: Subtopology, topology: Topology) -> str:
    by_name = {node.name: node for node in topology.nodes}
    positions = {name: position for position, name in enumerate(part.nodes)}
    boxes = {name: _Box(by_name[name], positions[name]) for name in grown_order(part.nodes)}
    # Sizes change while the links are added, and decide where a link is filed: the order counts.
    for box in boxes.values():
        for parent in () if isinstance(box.node, SourceNode) else box.node.parents:
            box.before.add(boxes[parent])
            boxes[parent].after.add(box)
            boxes[parent].grow(box.size)
    lines = [_line(box) for box in sorted(boxes.values(), key=lambda box: (-box.size, box.name))]
    if part.is_global:
        return f"Sub-topology: {part.number} for global store (will not generate tasks)\n{''.join(lines)}"
    return f"Sub-topology: {part.number}\n{''.join(lines)}\n"


def _line(box: _Box) -> str:
    before, after = f"\n      <-- {_names(box.before)}\n", f"\n      --> {_names(box.after)}"
    match box.node:
        case SourceNode(name=name, pattern=pattern, topics=topics):
            return f"    Source: {name} (topics: {pattern if pattern else _listed(topics)}){after}\n"
        case ProcessorNode(name=name, stores=stores):
            return f"    Processor: {name} (stores: {_listed(stores)}){after}{before}"
        case SinkNode(name=name, topic=topic) as sink:
            router = router_name(sink)
            target = f"topic: {topic}" if router is None else f"extractor class: {router}"
            return f"    Sink: {name} ({target}){before}"


def _names(boxes: Iterable[_Box]) -> str:
    return ", ".join(box.name for box in boxes) or "none"


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(copied_order(names))}]"

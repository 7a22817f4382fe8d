"""Turns the graph of steps into the parts of a topology, in the order Kafka Streams would add them."""

from __future__ import annotations

import heapq

from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import Step
from brookmere.topology.assembly import Parts


def write(graph: Graph) -> Parts:
    """Write each step once all its parents are written, those that were added earlier first."""
    parts = Parts(copartitioned=graph.copartitioned)
    written: set[Step] = set()
    ready: list[tuple[int, int, Step]] = [(0, 0, graph.root)]
    offered = 0
    while ready:
        _, _, step = heapq.heappop(ready)
        if step in written:
            continue
        step.write(parts)
        written.add(step)
        for child in step.children:
            if written.issuperset(child.parents):
                offered += 1
                heapq.heappush(ready, (child.priority, offered, child))
    return parts

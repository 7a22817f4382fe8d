"""Let records without a key pass the repartitions before left and outer joins."""

from __future__ import annotations

from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import RepartitionStep, Step


def keep_null_keys(graph: Graph) -> Graph:
    """Disable the null-key filter of each repartition with such a join downstream."""
    waiting = [step for step in graph.steps() if step.keeps_null_keys]
    seen: set[Step] = set()
    while waiting:
        for parent in waiting.pop().parents:
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    for step in seen:
        if isinstance(step, RepartitionStep):
            step.drops_null_keys = False
    return graph

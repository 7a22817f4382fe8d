"""Use the topic of a table source as the changelog of its store, instead of writing a second one."""

from __future__ import annotations

from dataclasses import replace

from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import TableSourceStep
from brookmere.topology.operators import TableSource

NAME = "reuse.ktable.source.topics"


def reuse_source_topics(graph: Graph) -> Graph:
    """Mark the stores of all table sources. The nodes do not change."""
    for step in graph.root.children:
        if isinstance(step, TableSourceStep) and step.store is not None:
            step.store = replace(step.store, changelog=step.topic)
            if _kept(step):
                graph.rewrote(NAME, f"{step.store.name} is restored from the topic {step.topic}")
    return graph


def _kept(step: TableSourceStep) -> bool:
    operator = step.operator
    return isinstance(operator, TableSource) and operator.store is not None and not step.is_global

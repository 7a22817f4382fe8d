"""Turns the topic of a table source into the changelog of its store, so that no second one is written."""

from __future__ import annotations

from dataclasses import replace

from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import TableSourceStep
from brookmere.topology.operators import TableSource

NAME = "reuse.ktable.source.topics"


def reuse_source_topics(graph: Graph) -> Graph:
    """Mark the stores of all table sources. The nodes stay the same."""
    for step in graph.root.children:
        if isinstance(step, TableSourceStep) and step.store is not None:
            step.store = replace(step.store, changelog=step.topic)
            if _kept(step):
                graph.rewrote(NAME, f"{step.store.name} is read again from the topic {step.topic}")
    return graph


def _kept(step: TableSourceStep) -> bool:
    operator = step.operator
    return isinstance(operator, TableSource) and operator.store is not None and not step.is_global

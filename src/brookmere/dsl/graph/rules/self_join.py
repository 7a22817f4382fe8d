"""Rewrite the join of a stream with itself so that its records are stored once."""

from __future__ import annotations

from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.joins.join_steps import StreamJoinStep
from brookmere.topology.operators import StreamJoin, StreamSelfJoin

NAME = "single.store.self.join"
ANY = "single.store.self.join.any"


def self_join(graph: Graph) -> Graph:
    """Rewrite the inner joins whose window includes the record itself.

    The results of other joins would change: with one store, each record matches itself and none is unmatched.
    """
    for step, side in _self_joins(graph):
        windows = side.windows
        if side.how == "inner" and windows.before_ms >= 0 and windows.after_ms >= 0 and not side.drop_late:
            _rewrite(graph, step, side, NAME)
    return graph


def any_self_join(graph: Graph) -> Graph:
    """Rewrite all self-joins, as Kafka Streams does."""
    for step, side in _self_joins(graph):
        _rewrite(graph, step, side, ANY)
    return graph


def _self_joins(graph: Graph) -> list[tuple[StreamJoinStep, StreamJoin]]:
    joins = [step for step in graph.steps() if isinstance(step, StreamJoinStep) and step.alone is None]
    sides = [(step, step.sides[0].operator) for step in joins if len(step.parents) == 1]
    return [(step, side) for step, side in sides if isinstance(side, StreamJoin)]


def _rewrite(graph: Graph, step: StreamJoinStep, side: StreamJoin, rule: str) -> None:
    (stream,) = step.parents
    left, right = step.buffers
    for child in list(stream.children):
        if child.name == right:
            stream.remove_child(child)
    step.alone = StreamSelfJoin(step.sides[1].stores[0], side.windows, side.joiner)
    graph.rewrote(rule, f"{step.name} joins a stream with itself: {left} stores the records of both sides")

"""Turns the join of a stream with itself into one that keeps the records once."""

from __future__ import annotations

from brookmere.dsl.graph import Graph
from brookmere.dsl.join_steps import StreamJoinStep
from brookmere.topology.operators import StreamJoin, StreamSelfJoin

NAME = "single.store.self.join"


def self_join(graph: Graph) -> Graph:
    """Take out the buffer of the right side where both sides of a join are one stream.

    Left and outer joins stay as they are, and joins whose window leaves out the record itself, because with
    one store their results would not be the same.
    """
    for step in graph.steps():
        if not isinstance(step, StreamJoinStep) or len(step.parents) != 1:
            continue
        (stream,) = step.parents
        side = step.sides[0].operator
        if not isinstance(side, StreamJoin) or not _same_results(side):
            continue
        left, right = step.buffers
        for child in list(stream.children):
            if child.name == right:
                stream.remove_child(child)
        step.alone = StreamSelfJoin(step.sides[1].stores[0], side.windows, side.joiner)
        graph.rewrote(NAME, f"{step.name} joins a stream with itself: {left} keeps the records of both sides")
    return graph


def _same_results(side: StreamJoin) -> bool:
    windows = side.windows
    return side.how == "inner" and windows.before_ms >= 0 and windows.after_ms >= 0 and not side.drop_late

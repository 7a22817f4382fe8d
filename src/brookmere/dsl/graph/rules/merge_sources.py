"""Merge the stream sources of the same topics, or of the same pattern, into the first of them."""

from __future__ import annotations

from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import StreamSourceStep
from brookmere.errors import Fault


def merge_sources(graph: Graph) -> Graph:
    """Move the children of repeated sources below the first one.

    Sources whose topics overlap without being equal are left for validation to reject.
    """
    first: dict[tuple[frozenset[str], str | None], StreamSourceStep] = {}
    for source in list(graph.root.children):
        if not isinstance(source, StreamSourceStep):
            continue
        kept = first.setdefault((frozenset(source.topics), source.pattern), source)
        if kept is not source:
            _compare(graph, kept, source)
            for child in list(source.children):
                source.remove_child(child)
                kept.add_child(child)
            graph.root.remove_child(source)
            graph.rename_copartitioned(source.name, kept.name)
    return graph


def _compare(graph: Graph, kept: StreamSourceStep, source: StreamSourceStep) -> None:
    differing = [
        part
        for part, here, there in (
            ("key serde", source.key, kept.key),
            ("value serde", source.value, kept.value),
            ("timestamp", source.timestamp or kept.timestamp, kept.timestamp),
            ("on_bad_record", source.on_bad_record or kept.on_bad_record, kept.on_bad_record),
            (
                "on_invalid_timestamp",
                source.on_invalid_timestamp or kept.on_invalid_timestamp,
                kept.on_invalid_timestamp,
            ),
        )
        if here != there
    ]
    if differing:
        topics = source.pattern or ", ".join(source.topics)
        what = f"{topics} is read with a different {' and '.join(differing)} than at {kept.location}"
        remedy = "Read it once and use the stream several times, or copy it to a second topic"
        graph.faults.append(Fault(what, f"node {source.name}, {source.location}", remedy))

"""Repartition a re-keyed stream before it is joined."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from brookmere.dsl.graph.steps import repartition_step
from brookmere.serde import Serde
from brookmere.topology.function import here

if TYPE_CHECKING:
    from brookmere.dsl.stream import KStream


def with_its_task(stream: KStream, name: str | None, other: Serde | None = None) -> KStream:
    """Return the stream, repartitioned under `name` if its key has changed.

    Joins without a name share the repartition of their stream. `other` is the key serde of the other side: if
    the type of a key does not determine its bytes, equal keys must be written as they are there.
    """
    if not stream._rekeyed:
        return stream
    if stream._key is None and other is not None and not other.is_default:
        stream = replace(stream, _key=other)
    graph = stream._graph
    # The numbers of the three nodes are used up even if the nodes already exist.
    names = graph.names.repartition(stream._step.name if name is None else name)
    known = graph.joined.get(stream._step)
    if known is None or name is not None:
        known = repartition_step(names, here(), key=stream._key, value=stream._value)
        graph.joined[stream._step] = known
        graph.add(known, stream._step)
    return replace(stream, _step=known, _sources=(known.name,), _rekeyed=False)

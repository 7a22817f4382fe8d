"""The steps of joins: two sides that merge in one node, and the internal topics in between."""

from __future__ import annotations

from dataclasses import dataclass, replace

from brookmere.dsl.graph.steps import Step
from brookmere.serde import Serde
from brookmere.topology.assembly import Parts
from brookmere.topology.nodes import ProcessorNode, Repartition, SinkNode, SourceNode, Store
from brookmere.topology.operators import Operator, StreamSelfJoin, TableJoinMerge


@dataclass(eq=False, kw_only=True)
class JoinStep(Step):
    """Two processors, one per side, and the merge after them, which gives the step its name.

    The sides name the nodes they receive records from, which stay even if a rule adds steps above them.
    """

    sides: tuple[ProcessorNode, ProcessorNode]
    merge: Operator
    store: Store | None = None
    """The store of the merge or, for streams, the one that both sides share."""

    def write(self, parts: Parts) -> None:
        """Write both sides, the merge, and the store."""
        parts.nodes.extend(self.sides)
        kept = (self.store.name,) if self.store is not None and isinstance(self.merge, TableJoinMerge) else ()
        parts.nodes.append(
            ProcessorNode(
                name=self.name,
                parents=tuple(side.name for side in self.sides),
                operator=self.merge,
                stores=kept,
                location=self.location,
            )
        )
        if self.store is not None:
            parts.store(self.store)


@dataclass(eq=False, kw_only=True)
class StreamJoinStep(JoinStep):
    """A join of two streams. `alone` replaces both sides when a rule finds that they are the same stream."""

    buffers: tuple[str, str]
    """The steps before the join that store the records of each side."""
    alone: StreamSelfJoin | None = None
    late: tuple[SinkNode, ...] = ()
    """The sinks for records that the sides drop."""

    def write(self, parts: Parts) -> None:
        """Write the sides and the merge, or the one processor that replaces them."""
        if self.alone is None:
            super().write(parts)
            parts.nodes.extend(self.late)
            return
        parts.nodes.append(
            ProcessorNode(
                name=self.name,
                parents=self.buffers[:1],
                operator=self.alone,
                stores=(self.alone.store,),
                location=self.location,
            )
        )
        parts.nodes.extend(replace(sink, parents=(self.name,)) for sink in self.late[:1])


@dataclass(eq=False, kw_only=True)
class InternalSinkStep(Step):
    """Sends the rows of a foreign-key join to the task of the other table."""

    topic: str
    key: Serde | None

    def write(self, parts: Parts) -> None:
        """Write the internal topic and the sink that writes to it."""
        parts.repartitions.append(Repartition(self.topic))
        parts.nodes.append(
            SinkNode(
                name=self.name,
                parents=self.parent_names(),
                topic=self.topic,
                key=self.key,
                internal=True,
                location=self.location,
            )
        )


@dataclass(eq=False, kw_only=True)
class InternalSourceStep(Step):
    """Receives what the sink above it sends."""

    topic: str
    key: Serde | None

    def write(self, parts: Parts) -> None:
        """Write the source that reads the internal topic."""
        parts.nodes.append(
            SourceNode(
                name=self.name, topics=(self.topic,), key=self.key, internal=True, location=self.location
            )
        )

"""The steps of a program, which rules can move and which write the nodes of the topology."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from brookmere.config import Handler
from brookmere.serde import Serde
from brookmere.topology.assembly import Parts
from brookmere.topology.function import Function, Location
from brookmere.topology.node_names import RepartitionNames
from brookmere.topology.nodes import ProcessorNode, Repartition, SinkNode, SourceNode, Store
from brookmere.topology.operators import KeyNotNull, Operator, PassThrough, TableSource
from brookmere.topology.times import OnInvalidTimestamp, RecordClock


@dataclass(eq=False, kw_only=True)
class Step(ABC):
    """A step, named after the node from which its children receive records.

    `parents` and `children` are ordered sets. Their order determines the order of the nodes.
    """

    name: str
    location: Location
    key_changing: bool = False
    value_changing: bool = False
    may_change_keys: bool = False
    """A processor. As in Kafka Streams, it causes no merge of repartitions, but none is moved past it."""
    merging: bool = False
    keeps_null_keys: bool = False
    """A left or outer join of streams, where records without a key have results as well."""
    priority: int = 0
    """Among the steps that are ready to be written, the one with the lowest number comes first."""
    parents: dict[Step, None] = field(default_factory=dict, repr=False)
    children: dict[Step, None] = field(default_factory=dict, repr=False)

    def add_child(self, child: Step) -> None:
        """Link `child` below this step, after its other children."""
        self.children[child] = None
        child.parents[self] = None

    def remove_child(self, child: Step) -> None:
        """Remove the link to `child`, if there is one."""
        if child in self.children:
            del self.children[child]
            del child.parents[self]

    def parent_names(self) -> tuple[str, ...]:
        """Return the nodes from which this step receives records."""
        return tuple(parent.name for parent in self.parents)

    @abstractmethod
    def write(self, parts: Parts) -> None:
        """Append this step's nodes, stores and repartitions."""


@dataclass(eq=False, kw_only=True)
class Root(Step):
    """The step above all sources."""

    def write(self, parts: Parts) -> None:
        """Write nothing: only the sources below become nodes."""


@dataclass(eq=False, kw_only=True)
class StreamSourceStep(Step):
    """Reads topics, or all topics that match a pattern."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    key: Serde | None
    value: Serde | None
    timestamp: Function | RecordClock | None
    on_bad_record: Handler | None = None
    on_invalid_timestamp: OnInvalidTimestamp | None = None

    def write(self, parts: Parts) -> None:
        """Write a source."""
        parts.nodes.append(
            SourceNode(
                name=self.name,
                topics=self.topics,
                pattern=self.pattern,
                key=self.key,
                value=self.value,
                timestamp=self.timestamp,
                on_bad_record=self.on_bad_record,
                on_invalid_timestamp=self.on_invalid_timestamp,
                location=self.location,
            )
        )


@dataclass(eq=False, kw_only=True)
class ProcessorStep(Step):
    """Runs one operator. A table source has a store available, but uses it only if needed."""

    operator: Operator
    store: Store | None = None
    looks_into: tuple[str, ...] = ()
    """The stores of other steps that the operator reads."""

    def write(self, parts: Parts) -> None:
        """Write a processor, and its store."""
        self._write_processor(parts, self.parent_names())

    def _write_processor(self, parts: Parts, parents: tuple[str, ...]) -> None:
        unused = isinstance(self.operator, TableSource) and self.operator.store is None
        store = None if unused else self.store
        parts.nodes.append(
            ProcessorNode(
                name=self.name,
                parents=parents,
                operator=self.operator,
                stores=(*(() if store is None else (store.name,)), *self.looks_into),
                location=self.location,
            )
        )
        if store is not None:
            parts.store(store)


@dataclass(eq=False, kw_only=True)
class TableSourceStep(ProcessorStep):
    """Reads a topic as a table."""

    topic: str
    source_name: str
    key: Serde | None
    value: Serde | None
    timestamp: Function | RecordClock | None = None
    on_bad_record: Handler | None = None
    on_invalid_timestamp: OnInvalidTimestamp | None = None
    is_global: bool = False

    def write(self, parts: Parts) -> None:
        """Write a source and the processor that maintains the table."""
        parts.nodes.append(
            SourceNode(
                name=self.source_name,
                topics=(self.topic,),
                key=self.key,
                value=self.value,
                timestamp=self.timestamp,
                on_bad_record=self.on_bad_record,
                on_invalid_timestamp=self.on_invalid_timestamp,
                is_global=self.is_global,
                location=self.location,
            )
        )
        self._write_processor(parts, (self.source_name,))


@dataclass(eq=False, kw_only=True)
class SinkStep(Step):
    """Writes to a topic."""

    topic: str | Function
    key: Serde | None
    value: Serde | None
    router_name: str | None = None
    late: bool = False

    def write(self, parts: Parts) -> None:
        """Write a sink."""
        parts.nodes.append(
            SinkNode(
                name=self.name,
                parents=self.parent_names(),
                topic=self.topic,
                key=self.key,
                value=self.value,
                router_name=self.router_name,
                late=self.late,
                location=self.location,
            )
        )


@dataclass(eq=False, kw_only=True)
class RepartitionStep(Step):
    """Sends records to the task of their key; named after the source that reads them again.

    `optimizable` steps were added because the key had changed; a rule may replace them by one.
    `filtered` is false after a grouped table, which never sends a null key. The filter lets all records
    through if a join downstream has results for records without a key.
    """

    topic: str
    filter_name: str
    sink_name: str
    key: Serde | None
    value: Serde | None
    partitions: int | None = None
    optimizable: bool = True
    filtered: bool = True
    drops_null_keys: bool = True

    def write(self, parts: Parts) -> None:
        """Write the internal topic with the nodes on both sides of it."""
        parts.repartitions.append(Repartition(self.topic, self.partitions))
        senders = self.parent_names()
        if self.filtered:
            operator = KeyNotNull() if self.drops_null_keys else PassThrough()
            parts.nodes.append(
                ProcessorNode(
                    name=self.filter_name, parents=senders, operator=operator, location=self.location
                )
            )
            senders = (self.filter_name,)
        parts.nodes.append(
            SinkNode(
                name=self.sink_name,
                parents=senders,
                topic=self.topic,
                key=self.key,
                value=self.value,
                internal=True,
                location=self.location,
            )
        )
        parts.nodes.append(
            SourceNode(
                name=self.name,
                topics=(self.topic,),
                key=self.key,
                value=self.value,
                internal=True,
                location=self.location,
            )
        )


def repartition_step(
    names: RepartitionNames,
    location: Location,
    *,
    key: Serde | None,
    value: Serde | None,
    partitions: int | None = None,
    optimizable: bool = True,
    filtered: bool = True,
) -> RepartitionStep:
    """Return a repartition step with these names."""
    return RepartitionStep(
        name=names.source,
        location=location,
        topic=names.topic,
        filter_name=names.filter,
        sink_name=names.sink,
        key=key,
        value=value,
        partitions=partitions,
        optimizable=optimizable,
        filtered=filtered,
    )

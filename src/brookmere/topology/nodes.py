"""The logical graph: frozen nodes in the order they were added."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from brookmere.config import Handler
from brookmere.serde import Serde
from brookmere.topology.function import Function, Location
from brookmere.topology.operators import Operator
from brookmere.topology.times import OnInvalidTimestamp, RecordClock

StoreType = OneOf["auto", "memory", "rocksdb"]
StoreKind = OneOf[
    "key_value", "window", "session", "versioned",
    "join_window", "unmatched", "join_buffer", "suppressed", "subscriptions", "seen",
]  # fmt: skip
"""What a store holds: the first four can be queried, the others are an operator's own."""


@dataclass(frozen=True, slots=True)
class SourceNode:
    """Reads topics. An internal source reads what the internal sink of the same topic sends."""

    name: str
    topics: tuple[str, ...]
    pattern: str | None = None
    key: Serde | None = None
    value: Serde | None = None
    timestamp: Function | RecordClock | None = None
    """None leaves it to the application."""
    on_invalid_timestamp: OnInvalidTimestamp | None = None
    """What to do about a time that is null, negative or not a number; None leaves it to the application."""
    on_bad_record: Handler | None = None
    """What to do about bytes that do not decode; None leaves it to the application."""
    internal: bool = False
    is_global: bool = False
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ProcessorNode:
    name: str
    parents: tuple[str, ...]
    operator: Operator
    stores: tuple[str, ...] = ()
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SinkNode:
    """Writes to a topic, to the topic a function names per record, or to a repartition."""

    name: str
    parents: tuple[str, ...]
    topic: str | Function
    key: Serde | None = None
    value: Serde | None = None
    internal: bool = False
    router_name: str | None = None
    """How `describe` calls the function that names the topic; its own name if None."""
    late: bool = False
    """It receives what its parent drops, as the parent got it, and nothing of what the parent sends."""
    changelog_of: str | None = None
    """The store whose every change it writes, to the partition of the task. Only a plan has such sinks."""
    location: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Store:
    """A named state store. `queryable` is true when the user named it, and for global tables."""

    name: str
    store_type: StoreType = "auto"
    queryable: bool = False
    kind: StoreKind = "key_value"
    is_global: bool = False
    changelog: str | None = None
    """The topic from which the store can be read again, if it is the table's own source topic."""
    retention_ms: int | None = None
    """How far back from stream time a store of windows, sessions or versions reaches."""
    window_ms: int | None = None
    """The length of the windows, where all have the same; unlimited windows have none."""
    key: Serde | None = field(default=None, compare=False)
    value: Serde | None = field(default=None, compare=False)
    """What a changelog is written with; None leaves it to the types."""
    key_type: object | None = field(default=None, compare=False)
    value_type: object | None = field(default=None, compare=False)
    """The types that a processor keeps, as the user declared them; operators know those of their stores."""
    logged: bool = True
    """Whether its changes are written to a changelog, from which it can be queried."""


@dataclass(frozen=True, slots=True)
class Repartition:
    """An internal topic. It exists in the graph only: no broker ever sees it."""

    topic: str
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A change that an optimization has made to a program."""

    rule: str
    what: str


@dataclass(frozen=True, slots=True)
class Subtopology:
    number: int
    nodes: tuple[str, ...]
    is_global: bool = False


Node = SourceNode | ProcessorNode | SinkNode


@dataclass(frozen=True, slots=True)
class Topology:
    """A program, ready to be planned; `StreamsBuilder.build` returns it."""

    application_id: str
    nodes: tuple[Node, ...]
    stores: tuple[Store, ...] = ()
    repartitions: tuple[Repartition, ...] = ()
    copartitioned: tuple[tuple[str, ...], ...] = ()
    """Groups of topic names that must have the same number of partitions."""
    subtopologies: tuple[Subtopology, ...] = ()
    rewrites: tuple[Rewrite, ...] = field(default=(), compare=False)
    """What the optimizations have changed, in the order of the changes."""

    def node(self, name: str) -> Node:
        """Return the node of a name."""
        return next(node for node in self.nodes if node.name == name)

    def store(self, name: str) -> Store:
        """Return the store of a name."""
        return next(store for store in self.stores if store.name == name)

    def keepers(self, store: str) -> list[ProcessorNode]:
        """Return the processors that keep a store, or share it with those that do."""
        processors = (node for node in self.nodes if isinstance(node, ProcessorNode))
        return [node for node in processors if store in node.operator.kept_stores]

    def describe(self) -> str:
        """Return Kafka Streams' text form."""
        from brookmere.topology.describe import describe

        return describe(self)

    def to_json(self) -> str:
        """Return the JSON form, for tools."""
        from brookmere.topology.json_form import to_json

        return to_json(self)

    def to_mermaid(self) -> str:
        """Return a Mermaid flow chart."""
        from brookmere.topology.mermaid import to_mermaid

        return to_mermaid(self)

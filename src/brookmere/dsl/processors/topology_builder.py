"""TopologyBuilder: a program written node by node, without the DSL."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from brookmere.config import Handler
from brookmere.dsl.arguments.checks import handler_of, lambda_of, pattern_of, refuse, serde_of, topics_of
from brookmere.dsl.arguments.timestamps import Timestamp, on_invalid_of, timestamp_of
from brookmere.dsl.base_builder import Builder, checked
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.rules import rules_for
from brookmere.dsl.processors.process import (
    Supplier,
    check_types,
    connected,
    declare,
    made_by,
    operator_of,
    write_processor,
)
from brookmere.dsl.processors.state_stores import StoreBuilder, stores_of
from brookmere.names import nearest
from brookmere.serde import Serde
from brookmere.topology.assembly import Parts, assemble
from brookmere.topology.function import here
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, Topology
from brookmere.topology.operators import Process
from brookmere.topology.times import OnInvalidTimestamp
from brookmere.worker.api.processor import FixedKeyProcessor


@dataclass(slots=True)
class _Added:
    node: Node
    stores: dict[str, None]


class TopologyBuilder(Builder):
    """Build a program of sources, processors, sinks and stores, linked by the names of their parents.

    Every method returns the builder itself. `key` and `value` are the default serdes of sources.

    >>> import brookmere as bm
    >>> class Upper(bm.Processor):
    ...     def process(self, record):
    ...         self.context.forward(record.with_value(record.value.upper()))
    >>> shout = bm.TopologyBuilder("shout", key=bm.Text(), value=bm.Text())
    >>> shout = shout.add_source("in", "texts").add_processor("upper", Upper, "in")
    >>> len(shout.add_sink("out", "shouts", "upper").build().nodes)
    3
    """

    def __init__(self, application_id: str, *, key: Serde | None = None, value: Serde | None = None) -> None:
        if not isinstance(application_id, str):
            refuse(f"An application id must be text, found {application_id!r}", "Pass a name")
        self.application_id = application_id
        # The graph holds faults, names and stores, as for every program, but no steps.
        self._graph = Graph()
        self._graph.check_name("application", application_id)
        self._key = serde_of("key", key)
        self._value = serde_of("value", value)
        self._added: list[_Added] = []

    def add_source(
        self,
        name: str,
        topics: str | Sequence[str] | re.Pattern[str],
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Timestamp | None = None,
        on_bad_record: Handler | None = None,
        on_invalid_timestamp: OnInvalidTimestamp | None = None,
    ) -> TopologyBuilder:
        """Read one or several topics, or all that match a pattern; the options are those of `stream`."""
        pattern = pattern_of(topics) if isinstance(topics, re.Pattern) else None
        names = () if isinstance(topics, re.Pattern) else topics_of(topics)
        for topic in names:
            self._graph.check_name("topic", topic)
        node = SourceNode(
            name=self._name(name),
            topics=names,
            pattern=pattern,
            key=serde_of("key", key) or self._key,
            value=serde_of("value", value) or self._value,
            timestamp=timestamp_of(timestamp),
            on_bad_record=handler_of("on_bad_record", on_bad_record),
            on_invalid_timestamp=on_invalid_of(on_invalid_timestamp),
            location=here(),
        )
        return self._add(node)

    def add_processor(
        self,
        name: str,
        supplier: Supplier,
        *parents: str,
        key: object | None = None,
        value: object | None = None,
        stores: object = (),
    ) -> TopologyBuilder:
        """Process the records of all `parents` with a processor from `supplier`, a class or a function.

        `key` and `value` are the types of the records it forwards, `stores` the stores it uses, as in
        `KStream.process`.
        """
        made = made_by("add_processor", supplier)
        check_types(self._graph, "add_processor", key, value)
        operator = operator_of(supplier, issubclass(made, FixedKeyProcessor), key, value, here())
        node = ProcessorNode(self._name(name), self._parents(name, parents), operator, location=here())
        names = connected(self._graph, (*stores_of(made.stores), *stores_of(stores)))
        return self._add(node, names)

    def add_sink(
        self,
        name: str,
        topic: str | Callable[..., Any],
        *parents: str,
        key: Serde | None = None,
        value: Serde | None = None,
    ) -> TopologyBuilder:
        """Write the records of all `parents` to a topic, or to the one a function over Columns names."""
        if isinstance(topic, str):
            self._graph.check_name("topic", topic)
        node = SinkNode(
            name=self._name(name),
            parents=self._parents(name, parents),
            topic=topic if isinstance(topic, str) else lambda_of("topic of add_sink", topic),
            key=serde_of("key", key),
            value=serde_of("value", value),
            location=here(),
        )
        return self._add(node)

    def add_state_store(self, builder: StoreBuilder, *processors: str) -> TopologyBuilder:
        """Declare a store, and connect it to these processors."""
        declare(self._graph, builder)
        _check_names(f"The processors of the store {builder.name!r}", processors)
        for processor in processors:
            self._connect(processor, (builder.name,))
        return self

    def connect_processor_and_state_stores(self, processor: str, *stores: str) -> TopologyBuilder:
        """Let a processor use stores that were declared before."""
        _check_names("A processor and its stores", (processor, *stores))
        if not stores:
            self._graph.fault(f"Processor {processor!r} is connected to no store", "Name at least one store")
        self._connect(processor, stores)
        return self

    def build(self, *, optimization: str | Sequence[str] = "none") -> Topology:
        """Return the current topology; the builder can be extended and built again.

        Optimizations have no effect here, but their names are checked.

        Raises:
            TopologyError: the program has faults; the error lists all of them.
        """
        rules_for(optimization)
        parts, known = Parts(), self._graph.stores
        for added in self._added:
            node = added.node
            if isinstance(node, ProcessorNode) and isinstance(node.operator, Process):
                write_processor(parts, node, node.operator, added.stores, known)
            else:
                parts.nodes.append(node)
        return checked(assemble(self.application_id, parts), self._graph)

    def _name(self, name: str) -> str:
        if not isinstance(name, str):
            refuse(f"The name of a node must be text, found {name!r}", "Pass the name first")
        self._graph.check_name("node", name)
        return name

    def _add(self, node: Node, stores: Sequence[str] = ()) -> TopologyBuilder:
        self._added.append(_Added(node, dict.fromkeys(stores)))
        return self

    def _parents(self, name: str, parents: tuple[str, ...]) -> tuple[str, ...]:
        if not parents:
            self._graph.fault(f"Node {name!r} has no parent", "Name the nodes whose records it receives")
        _check_names(f"The parents of {name!r}", parents)
        known = {added.node.name: added.node for added in self._added}
        found = []
        for parent in dict.fromkeys(parents):
            if isinstance(known.get(parent), SinkNode):
                self._graph.fault(
                    f"The parent {parent!r} of {name!r} is a sink", "Name a source or a processor"
                )
            elif parent in known:
                found.append(parent)
            elif parent == name:
                self._graph.fault(f"Node {name!r} is its own parent", "Name another node")
            else:
                self._graph.fault(
                    f"The parent {parent!r} of {name!r} is unknown", _did_you_mean(parent, known, "node")
                )
        return tuple(found)

    def _connect(self, processor: str, stores: Sequence[str]) -> None:
        known = {added.node.name: added for added in self._added}
        if processor not in known:
            self._graph.fault(
                f"There is no processor {processor!r} to connect",
                _did_you_mean(processor, known, "processor"),
            )
        elif not isinstance(known[processor].node, ProcessorNode):
            self._graph.fault(f"Node {processor!r} is not a processor", "Only processors have stores")
        else:
            known[processor].stores.update(dict.fromkeys(stores))


def _check_names(what: str, names: Sequence[object]) -> None:
    for name in names:
        if not isinstance(name, str):
            refuse(f"{what} must be given by name, found {name!r}", "Pass each name as a separate argument")


def _did_you_mean(name: str, known: Sequence[str] | dict[str, Any], kind: str) -> str:
    similar = nearest(name, tuple(known))
    return f"Did you mean {similar!r}?" if similar else f"Add the {kind} first"

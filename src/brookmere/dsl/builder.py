"""StreamsBuilder: the entry point of the DSL, which builds the topology."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from brookmere.config import Handler
from brookmere.dsl.arguments.checks import handler_of, pattern_of, refuse, serde_of, topics_of
from brookmere.dsl.arguments.table_store import table_store
from brookmere.dsl.arguments.timestamps import Timestamp, on_invalid_of, timestamp_of
from brookmere.dsl.base_builder import Builder, checked
from brookmere.dsl.graph.graph import Graph, write
from brookmere.dsl.graph.rules import rules_for
from brookmere.dsl.graph.steps import StreamSourceStep, TableSourceStep
from brookmere.dsl.processors.process import declare
from brookmere.dsl.processors.state_stores import StoreBuilder
from brookmere.dsl.stream import KStream
from brookmere.dsl.table import GlobalKTable, KTable
from brookmere.serde import Serde
from brookmere.topology.assembly import assemble
from brookmere.topology.corrections import corrections_of
from brookmere.topology.durations import Duration
from brookmere.topology.function import here
from brookmere.topology.nodes import Store, StoreType, Topology
from brookmere.topology.operators import TableSource
from brookmere.topology.times import OnInvalidTimestamp

_SOURCE = "KSTREAM-SOURCE-"
_TABLE = "KTABLE-SOURCE-"


class StreamsBuilder(Builder):
    """Build the topology of an application. `key` and `value` are the default serdes of its sources.

    `corrections` names behaviours of Kafka Streams that this program opts out of, or "all".

    >>> import brookmere as bm
    >>> app = bm.StreamsBuilder("words", key=bm.Text(), value=bm.Text())
    >>> app.stream("in").filter(lambda value: value != "").to("out")
    >>> len(app.build().nodes)
    3
    """

    def __init__(
        self,
        application_id: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        corrections: str | Iterable[str] = (),
    ) -> None:
        if not isinstance(application_id, str):
            refuse(f"An application id must be text, found {application_id!r}", "Pass a name")
        self.application_id = application_id
        self._graph = Graph(corrections_of(corrections))
        self._graph.check_name("application", application_id)
        self._key = serde_of("key", key)
        self._value = serde_of("value", value)

    def stream(
        self,
        topics: str | Sequence[str] | re.Pattern[str],
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        timestamp: Timestamp | None = None,
        on_bad_record: Handler | None = None,
        on_invalid_timestamp: OnInvalidTimestamp | None = None,
        name: str | None = None,
    ) -> KStream:
        """Read one or several topics, or all that match a pattern, as a stream.

        `timestamp` is a field of the value or a function of (value), (key, value) or (key, value, timestamp)
        that returns milliseconds or a Spark timestamp, or a clock: `record_time` or `wall_clock`.
        `on_bad_record` handles bytes that cannot be decoded, and `on_invalid_timestamp` a time that is
        null, negative or not a number; they override the settings of the application.
        """
        pattern = pattern_of(topics) if isinstance(topics, re.Pattern) else None
        step = StreamSourceStep(
            name=self._graph.name(name, _SOURCE),
            location=here(),
            topics=() if isinstance(topics, re.Pattern) else self._topics(topics),
            pattern=pattern,
            key=serde_of("key", key) or self._key,
            value=serde_of("value", value) or self._value,
            timestamp=timestamp_of(timestamp),
            on_bad_record=handler_of("on_bad_record", on_bad_record),
            on_invalid_timestamp=on_invalid_of(on_invalid_timestamp),
        )
        self._graph.add(step, self._graph.root)
        return KStream(self._graph, step, step.key, step.value, (step.name,))

    def table(
        self,
        topic: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        store: str | None = None,
        store_type: StoreType = "auto",
        history: Duration | None = None,
        ttl: Duration | None = None,
        timestamp: Timestamp | None = None,
        on_bad_record: Handler | None = None,
        on_invalid_timestamp: OnInvalidTimestamp | None = None,
        name: str | None = None,
    ) -> KTable:
        """Read a topic as a table. It has a store if one is named, or if another operator reads the table.

        With `history`, the table keeps earlier versions of its rows, that far back from the latest record.
        With `ttl`, a row that was not updated for that long in stream time is deleted.
        """
        kept = self._graph.store(store, f"{self._topic(topic)}-", store_type)
        kept, operator = table_store(kept, history, ttl)
        step = self._table_step(topic, kept, operator, key, value, on_bad_record, name)
        step.timestamp = timestamp_of(timestamp)
        step.on_invalid_timestamp = on_invalid_of(on_invalid_timestamp)
        self._graph.add(step, self._graph.root)
        return KTable(self._graph, step, step.key, step.value, (step.source_name,), store)

    def global_table(
        self,
        topic: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        store: str | None = None,
        on_bad_record: Handler | None = None,
        name: str | None = None,
    ) -> GlobalKTable:
        """Read a topic as a table whose rows are all visible to every task."""
        kept = self._graph.store(store, f"{self._topic(topic)}-", "auto")
        kept = Store(kept.name, queryable=True, is_global=True)
        step = self._table_step(topic, kept, TableSource(kept.name), key, value, on_bad_record, name)
        step.is_global = True
        self._graph.stores.of_global_tables.add(kept.name)
        self._graph.add(step, self._graph.root)
        return GlobalKTable(self._graph, step, kept.name)

    def add_state_store(self, builder: StoreBuilder) -> StreamsBuilder:
        """Declare a store that processors name in their `stores`."""
        declare(self._graph, builder)
        return self

    def build(self, *, optimization: str | Sequence[str] = "none") -> Topology:
        """Return the topology; the builder can be extended and built again.

        `optimization` is "none", "all", or the names of single rules as in `topology.optimization`.

        Raises:
            TopologyError: the program has faults; the error lists all of them.
        """
        graph = self._graph.copy()
        for rule in rules_for(optimization):
            graph = rule(graph)
        topology = assemble(self.application_id, write(graph))
        return checked(replace(topology, rewrites=tuple(graph.rewrites)), graph)

    def _topic(self, topic: str) -> str:
        if not isinstance(topic, str):
            refuse(f"A table must name one topic, found {topic!r}", "Pass a name")
        self._graph.check_name("topic", topic)
        return topic

    def _topics(self, topics: str | Sequence[str]) -> tuple[str, ...]:
        names = topics_of(topics)
        for name in names:
            self._graph.check_name("topic", name)
        return names

    def _table_step(
        self,
        topic: str,
        store: Store,
        operator: TableSource,
        key: Serde | None,
        value: Serde | None,
        on_bad_record: Handler | None,
        name: str | None,
    ) -> TableSourceStep:
        source_name = self._graph.names.choose(name, _SOURCE, "-source")
        read_key = serde_of("key", key) or self._key
        read_value = serde_of("value", value) or self._value
        return TableSourceStep(
            name=self._graph.name(name, _TABLE),
            location=here(),
            operator=operator,
            store=replace(store, key=read_key, value=read_value),
            topic=topic,
            source_name=source_name,
            key=read_key,
            value=read_value,
            on_bad_record=handler_of("on_bad_record", on_bad_record),
        )

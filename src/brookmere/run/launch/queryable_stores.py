"""What replicas have to know of the stores of a compiled program."""

from __future__ import annotations

from typing import cast

from brookmere.config import Config
from brookmere.plan.changelogs import Changelog
from brookmere.run.compile.compiler import Compiled
from brookmere.run.launch.changelogs import changelogs_of
from brookmere.run.wire.changelog_serdes import log_serde
from brookmere.run.wire.types import TYPES, form_of
from brookmere.run.wire.wire import Wire
from brookmere.serde import Bytes, Registry, Serde, Windowed
from brookmere.serde.registered import registry_of
from brookmere.state import StoreInfo, StoreKind
from brookmere.topology.nodes import ProcessorNode, SourceNode, Topology
from brookmere.topology.operators import WindowAggregate
from brookmere.topology.windows import FOREVER


def queryable_stores(compiled: Compiled, config: Config) -> tuple[StoreInfo, ...]:
    """Return the stores that can be queried, with the actual serdes of their changelogs.

    Values are those that the test driver shows: a struct is a dict, whatever class the program has for it.
    """
    registry = registry_of(config)
    return tuple(_info(log, compiled, registry) for log in changelogs_of(compiled.plan, config))


def _info(log: Changelog, compiled: Compiled, registry: Registry | None) -> StoreInfo:
    store = log.store
    key, value = (
        _source_serdes(compiled.plan.topology, log.topic, registry)
        if log.is_source
        else _log_serdes(log, compiled, registry)
    )
    if store.kind in ("window", "session") and isinstance(key, Windowed):
        key = key.inner
    kept = store.retention_ms
    if kept is not None and _is_closing(log, compiled.plan.topology):
        # In Kafka Streams, stores of windows that emit on close keep one millisecond more.
        kept += 1
    return StoreInfo(
        name=store.name,
        kind=cast(StoreKind, store.kind),
        topic=log.topic,
        key=key,
        value=value,
        window_ms=store.window_ms if store.kind == "window" else None,
        retention_ms=None if kept is None or kept >= FOREVER else kept,
        is_source=log.is_source,
        is_global=store.is_global,
    )


def _is_closing(log: Changelog, topology: Topology) -> bool:
    owners = [topology.node(name) for name in log.owners]
    operators = [owner.operator for owner in owners if isinstance(owner, ProcessorNode)]
    closing = any(isinstance(o, WindowAggregate) and o.emit == "close" for o in operators)
    return closing and log.store.kind == "window"


def _log_serdes(log: Changelog, compiled: Compiled, registry: Registry | None) -> tuple[Serde, Serde]:
    node = compiled.python_stores.get(log.store.name, compiled.numbers[log.owners[0]])
    found = []
    for given, is_key in ((log.store.key, True), (log.store.value, False)):
        placed = None if given is None else given.for_topic(log.topic, is_key=is_key, registry=registry)
        data_type = Wire.node_type(compiled.builder, node, is_key)
        found.append(log_serde(placed, data_type).as_stored(form_of(data_type), TYPES))
    return found[0], found[1]


def _source_serdes(topology: Topology, topic: str, registry: Registry | None) -> tuple[Serde, Serde]:
    sources = [node for node in topology.nodes if isinstance(node, SourceNode) and not node.internal]
    source = next(node for node in sources if topic in node.topics)
    found = []
    for given, is_key in ((source.key, True), (source.value, False)):
        placed = (given or Bytes()).for_topic(topic, is_key=is_key, registry=registry)
        found.append(placed.as_stored(None, TYPES))
    return found[0], found[1]

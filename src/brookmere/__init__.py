"""Kafka Streams' model for Python, on Spark Structured Streaming.

The names in `__all__` are public. So are those that the namespaces among them list: `dsl`, `errors`,
`queries`, `serdes`, `processors`, `testing`, `run`, `serve`, `topics`, `registry` and `broker`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from brookmere import errors
from brookmere.dsl.aggregates.agg_functions import (
    avg,
    collect_list,
    collect_set,
    count,
    first,
    last,
    top_n,
)
from brookmere.dsl.aggregates.agg_functions import max as max
from brookmere.dsl.aggregates.agg_functions import min as min
from brookmere.dsl.aggregates.agg_functions import sum as sum
from brookmere.dsl.aggregates.grouped import KGroupedStream
from brookmere.dsl.aggregates.grouped_table import KGroupedTable
from brookmere.dsl.aggregates.suppressed import until_time_limit, until_window_closes
from brookmere.dsl.builder import StreamsBuilder
from brookmere.dsl.functions.python import python, python_async
from brookmere.dsl.processors.state_stores import (
    key_value_store,
    session_store,
    versioned_store,
    window_store,
)
from brookmere.dsl.processors.topology_builder import TopologyBuilder
from brookmere.dsl.stream import KStream
from brookmere.dsl.table import GlobalKTable, KTable
from brookmere.errors import BrookmereError
from brookmere.plan.explain_program import explain
from brookmere.record import Record, WindowedKey
from brookmere.serde import (
    Bool,
    Bytes,
    Custom,
    Double,
    Int,
    Json,
    Long,
    Pickled,
    Registry,
    Serde,
    Text,
    Windowed,
)
from brookmere.topics import Topics
from brookmere.topology.nodes import Topology
from brookmere.topology.times import record_time, wall_clock
from brookmere.topology.windows import (
    JoinWindows,
    SessionWindows,
    SlidingWindows,
    TimeWindows,
    UnlimitedWindows,
)

if TYPE_CHECKING:
    from brookmere import broker, dsl, processors, queries, registry, run, serdes, testing, topics
    from brookmere.run.application import Application
    from brookmere.run.progress import Progress
    from brookmere.serde.avro.avro import Avro
    from brookmere.serde.json.json_schema import JsonSchema
    from brookmere.serde.protobuf.protobuf import Protobuf
    from brookmere.serve.start import serve
    from brookmere.state import Replica
    from brookmere.topics.kafka import KafkaTopics
    from brookmere.worker.api.context import ProcessorContext
    from brookmere.worker.api.processor import FixedKeyProcessor, Processor

    __version__: str

# `sum`, `min` and `max` are public, too, but left out here: `from brookmere import *` shadows no builtin.
__all__ = [
    "Application",
    "Avro",
    "Bool",
    "BrookmereError",
    "Bytes",
    "Custom",
    "Double",
    "FixedKeyProcessor",
    "GlobalKTable",
    "Int",
    "JoinWindows",
    "Json",
    "JsonSchema",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "KafkaTopics",
    "Long",
    "Pickled",
    "Processor",
    "ProcessorContext",
    "Progress",
    "Protobuf",
    "Record",
    "Registry",
    "Replica",
    "Serde",
    "SessionWindows",
    "SlidingWindows",
    "StreamsBuilder",
    "Text",
    "TimeWindows",
    "Topics",
    "Topology",
    "TopologyBuilder",
    "UnlimitedWindows",
    "Windowed",
    "WindowedKey",
    "avg",
    "broker",
    "collect_list",
    "collect_set",
    "count",
    "dsl",
    "errors",
    "explain",
    "first",
    "key_value_store",
    "last",
    "processors",
    "python",
    "python_async",
    "queries",
    "record_time",
    "registry",
    "run",
    "serdes",
    "serve",
    "session_store",
    "testing",
    "top_n",
    "topics",
    "until_time_limit",
    "until_window_closes",
    "versioned_store",
    "wall_clock",
    "window_store",
]

_SHADOWING = ("max", "min", "sum")
"""Public names that are builtins of Python, too."""

# These import PySpark, RocksDB, Kafka's client or the library of a format: only programs that use them wait.
_LAZY = {
    "Application": "brookmere.run.application",
    "Avro": "brookmere.serde.avro.avro",
    "FixedKeyProcessor": "brookmere.worker.api.processor",
    "JsonSchema": "brookmere.serde.json.json_schema",
    "KafkaTopics": "brookmere.topics.kafka",
    "Processor": "brookmere.worker.api.processor",
    "ProcessorContext": "brookmere.worker.api.context",
    "Progress": "brookmere.run.progress",
    "Protobuf": "brookmere.serde.protobuf.protobuf",
    "Replica": "brookmere.state",
    "serve": "brookmere.serve.start",
}
_NAMESPACES = ("broker", "dsl", "processors", "queries", "registry", "run", "serdes", "testing", "topics")


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _NAMESPACES:
        return import_module(f"{__name__}.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_SHADOWING, "__version__"]

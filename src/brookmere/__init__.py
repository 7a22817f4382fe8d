"""Kafka Streams' model for Python, on Spark Structured Streaming. The names below are the public ones."""

from __future__ import annotations

from brookmere.dsl.branched import BranchedKStream
from brookmere.dsl.builder import StreamsBuilder
from brookmere.dsl.cogrouped import CogroupedKStream
from brookmere.dsl.grouped import KGroupedStream
from brookmere.dsl.grouped_table import KGroupedTable
from brookmere.dsl.short import (
    avg,
    collect_list,
    collect_set,
    count,
    first,
    last,
    max,
    min,
    sum,
    top_n,
)
from brookmere.dsl.stream import KStream
from brookmere.dsl.table import GlobalKTable, KTable
from brookmere.errors import (
    BrookmereError,
    ConfigError,
    DamagedTopicError,
    DataLossError,
    DeserializationError,
    EngineError,
    ExpressionError,
    Fault,
    InternalError,
    JavaNotFoundError,
    KernelBuildError,
    ProcessingError,
    ProductionError,
    RecordError,
    TopicError,
    TopicExistsError,
    TopologyError,
    UnknownTopicError,
    UnsupportedError,
)
from brookmere.plan.program import explain
from brookmere.record import Record, WindowedKey
from brookmere.serde import Bool, Bytes, Custom, Double, Int, Json, Long, Serde, Text, Windowed
from brookmere.topics import Topics
from brookmere.topology.nodes import Topology

__all__ = [
    "Bool",
    "BranchedKStream",
    "BrookmereError",
    "Bytes",
    "CogroupedKStream",
    "ConfigError",
    "Custom",
    "DamagedTopicError",
    "DataLossError",
    "DeserializationError",
    "Double",
    "EngineError",
    "ExpressionError",
    "Fault",
    "GlobalKTable",
    "Int",
    "InternalError",
    "JavaNotFoundError",
    "Json",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "KernelBuildError",
    "Long",
    "ProcessingError",
    "ProductionError",
    "Record",
    "RecordError",
    "Serde",
    "StreamsBuilder",
    "Text",
    "TopicError",
    "TopicExistsError",
    "Topics",
    "Topology",
    "TopologyError",
    "UnknownTopicError",
    "UnsupportedError",
    "Windowed",
    "WindowedKey",
    "avg",
    "collect_list",
    "collect_set",
    "count",
    "explain",
    "first",
    "last",
    "max",
    "min",
    "sum",
    "top_n",
]

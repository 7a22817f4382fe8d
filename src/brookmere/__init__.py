"""Kafka Streams' model for Python, on Spark Structured Streaming. The names below are the public ones."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from brookmere.dsl.aggregates.cogrouped import CogroupedKStream
from brookmere.dsl.aggregates.grouped import KGroupedStream
from brookmere.dsl.aggregates.grouped_table import KGroupedTable
from brookmere.dsl.aggregates.short import (
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
from brookmere.dsl.aggregates.suppressed import until_time_limit, until_window_closes
from brookmere.dsl.aggregates.windowed import WindowedKStream
from brookmere.dsl.aggregates.windowed_cogrouped import WindowedCogroupedKStream
from brookmere.dsl.branched import BranchedKStream
from brookmere.dsl.builder import StreamsBuilder
from brookmere.dsl.functions.python import python, python_async
from brookmere.dsl.processors.state_stores import (
    StoreBuilder,
    key_value_store,
    session_store,
    versioned_store,
    window_store,
)
from brookmere.dsl.processors.topology import Topology
from brookmere.dsl.stream import KStream
from brookmere.dsl.table import GlobalKTable, KTable
from brookmere.errors import (
    AccessError,
    BrookmereError,
    ConfigError,
    DamagedTopicError,
    DataLossError,
    DeserializationError,
    EngineError,
    ExpressionError,
    Fault,
    IncompatibleSchemaError,
    InstanceError,
    InternalError,
    JarNotFoundError,
    JavaNotFoundError,
    KernelBuildError,
    PositionError,
    ProcessingError,
    ProductionError,
    RecordError,
    RegistryError,
    ServerError,
    StateError,
    StoreError,
    StoreNotReadyError,
    StoreTypeError,
    TimestampError,
    TopicError,
    TopicExistsError,
    TopologyError,
    TransactionError,
    UnknownSchemaError,
    UnknownStoreError,
    UnknownTopicError,
    UnreachableError,
    UnsupportedError,
    WorkerError,
)
from brookmere.plan.program import explain
from brookmere.record import Record, WindowedKey
from brookmere.registry import RegistryClient
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
from brookmere.topology.nodes import Topology as BuiltTopology
from brookmere.topology.times import record_time, wall_clock
from brookmere.topology.windows import (
    JoinWindows,
    SessionWindows,
    SlidingWindows,
    TimeWindows,
    UnlimitedWindows,
)

if TYPE_CHECKING:
    from brookmere.run.application import Application
    from brookmere.run.evolution.comparison import Evolution, Finding
    from brookmere.run.progress import Progress
    from brookmere.serde.avro.avro import Avro
    from brookmere.serde.json.json_schema import JsonSchema
    from brookmere.serde.protobuf.protobuf import Protobuf
    from brookmere.serve.server import Server
    from brookmere.serve.start import serve
    from brookmere.state import (
        CountQuery,
        KeyQuery,
        KeyValueStore,
        MultiVersionedKeyQuery,
        Position,
        QueryResult,
        RangeQuery,
        Replica,
        Row,
        SessionKeyQuery,
        SessionRangeQuery,
        SessionStore,
        StoreInfo,
        StoreStatus,
        Update,
        Updates,
        Version,
        VersionedKeyQuery,
        VersionedRangeQuery,
        VersionedStore,
        WindowKeyQuery,
        WindowRangeQuery,
        WindowStore,
    )
    from brookmere.topics.kafka import KafkaTopics
    from brookmere.worker.api.context import ProcessorContext, Punctuation
    from brookmere.worker.api.processor import FixedKeyProcessor, Processor
    from brookmere.worker.protocol.stage_code import TaskId

__all__ = [
    "AccessError",
    "Application",
    "Avro",
    "Bool",
    "BranchedKStream",
    "BrookmereError",
    "BuiltTopology",
    "Bytes",
    "CogroupedKStream",
    "ConfigError",
    "CountQuery",
    "Custom",
    "DamagedTopicError",
    "DataLossError",
    "DeserializationError",
    "Double",
    "EngineError",
    "Evolution",
    "ExpressionError",
    "Fault",
    "Finding",
    "FixedKeyProcessor",
    "GlobalKTable",
    "IncompatibleSchemaError",
    "InstanceError",
    "Int",
    "InternalError",
    "JarNotFoundError",
    "JavaNotFoundError",
    "JoinWindows",
    "Json",
    "JsonSchema",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "KafkaTopics",
    "KernelBuildError",
    "KeyQuery",
    "KeyValueStore",
    "Long",
    "MultiVersionedKeyQuery",
    "Pickled",
    "Position",
    "PositionError",
    "ProcessingError",
    "Processor",
    "ProcessorContext",
    "ProductionError",
    "Progress",
    "Protobuf",
    "Punctuation",
    "QueryResult",
    "RangeQuery",
    "Record",
    "RecordError",
    "Registry",
    "RegistryClient",
    "RegistryError",
    "Replica",
    "Row",
    "Serde",
    "Server",
    "ServerError",
    "SessionKeyQuery",
    "SessionRangeQuery",
    "SessionStore",
    "SessionWindows",
    "SlidingWindows",
    "StateError",
    "StoreBuilder",
    "StoreError",
    "StoreInfo",
    "StoreNotReadyError",
    "StoreStatus",
    "StoreTypeError",
    "StreamsBuilder",
    "TaskId",
    "Text",
    "TimeWindows",
    "TimestampError",
    "TopicError",
    "TopicExistsError",
    "Topics",
    "Topology",
    "TopologyError",
    "TransactionError",
    "UnknownSchemaError",
    "UnknownStoreError",
    "UnknownTopicError",
    "UnlimitedWindows",
    "UnreachableError",
    "UnsupportedError",
    "Update",
    "Updates",
    "Version",
    "VersionedKeyQuery",
    "VersionedRangeQuery",
    "VersionedStore",
    "WindowKeyQuery",
    "WindowRangeQuery",
    "WindowStore",
    "Windowed",
    "WindowedCogroupedKStream",
    "WindowedKStream",
    "WindowedKey",
    "WorkerError",
    "avg",
    "collect_list",
    "collect_set",
    "count",
    "explain",
    "first",
    "key_value_store",
    "last",
    "max",
    "min",
    "python",
    "python_async",
    "record_time",
    "serve",
    "session_store",
    "sum",
    "top_n",
    "until_time_limit",
    "until_window_closes",
    "versioned_store",
    "wall_clock",
    "window_store",
]

# They bring PySpark, RocksDB, Kafka's client or the library of a format along, which programs without
# them need not wait for.
_LATER = {
    "Application": "brookmere.run.application",
    "Avro": "brookmere.serde.avro.avro",
    "Evolution": "brookmere.run.evolution.comparison",
    "Finding": "brookmere.run.evolution.comparison",
    "FixedKeyProcessor": "brookmere.worker.api.processor",
    "JsonSchema": "brookmere.serde.json.json_schema",
    "KafkaTopics": "brookmere.topics.kafka",
    "Processor": "brookmere.worker.api.processor",
    "ProcessorContext": "brookmere.worker.api.context",
    "Punctuation": "brookmere.worker.api.context",
    "TaskId": "brookmere.worker.protocol.stage_code",
    "Progress": "brookmere.run.progress",
    "Protobuf": "brookmere.serde.protobuf.protobuf",
    "Server": "brookmere.serve.server",
    "serve": "brookmere.serve.start",
    "CountQuery": "brookmere.state",
    "KeyQuery": "brookmere.state",
    "KeyValueStore": "brookmere.state",
    "MultiVersionedKeyQuery": "brookmere.state",
    "Position": "brookmere.state",
    "QueryResult": "brookmere.state",
    "RangeQuery": "brookmere.state",
    "Replica": "brookmere.state",
    "Row": "brookmere.state",
    "SessionKeyQuery": "brookmere.state",
    "SessionRangeQuery": "brookmere.state",
    "SessionStore": "brookmere.state",
    "StoreInfo": "brookmere.state",
    "StoreStatus": "brookmere.state",
    "Update": "brookmere.state",
    "Updates": "brookmere.state",
    "Version": "brookmere.state",
    "VersionedKeyQuery": "brookmere.state",
    "VersionedRangeQuery": "brookmere.state",
    "VersionedStore": "brookmere.state",
    "WindowKeyQuery": "brookmere.state",
    "WindowRangeQuery": "brookmere.state",
    "WindowStore": "brookmere.state",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)

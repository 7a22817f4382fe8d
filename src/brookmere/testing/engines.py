"""The engines of the test driver: in memory, or a real Spark query."""

from __future__ import annotations

import shutil
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType, _parse_datatype_json_string

from brookmere.record import Header
from brookmere.run.compile.compiler import Compiled
from brookmere.run.query.dataframes import BatchConnection
from brookmere.run.query.failures import from_python
from brookmere.run.query.query import Query, SparkOptions, read_counters
from brookmere.run.query.taps import plain, python_values
from brookmere.testing.python_stages import PythonStages
from brookmere.topology.nodes import Store

_EVER = 2**63 - 1
_DELETED = -(1 << 63)
"""The time of a version that marks a deleted key."""

StoreRow = tuple[Any, Any, int]
"""Key, value and timestamp."""


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record as stage 0 reads it. `clock` is its number among all inputs of the driver."""

    topic: int
    partition: int
    offset: int
    timestamp: int
    clock: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


def clock_record(wall: int, *, ticks: bool) -> RawRecord:
    """Return a record that passes the wall clock to a program, and with `ticks` that it has advanced."""
    time, tick = 1, 2
    return RawRecord(_CLOCK, 0, tick if ticks else time, wall, 0, None, None)


_CLOCK = -1
"""The topic number of clock records."""


class Engine(Protocol):
    """The interface of the engines."""

    def run(self, records: Sequence[RawRecord]) -> bytes:
        """Process records as one micro-batch and return the output."""

    def restart(self) -> None:
        """Discard everything that is not in the state."""

    def store(self, name: str, kind: str, stage: int) -> list[StoreRow]:
        """Return the rows of a store."""

    def counters(self) -> dict[str, dict[str, int]]:
        """Return the counts of each node."""

    def close(self) -> None:
        """Release the resources of the engine."""


class LocalEngine:
    """Runs the program in memory."""

    def __init__(self, compiled: Compiled, session: SparkSession) -> None:
        self._compiled = compiled
        jvm: Any = session._jvm
        routed = jvm.java.util.HashSet()
        for node in compiled.routed:
            routed.add(node)
        self._runner = jvm.brookmere.kernel.local.LocalRunner(compiled.program, routed)
        self._jvm = jvm
        self._python_stages = PythonStages(self._runner, compiled.python) if compiled.python else None

    def run(self, records: Sequence[RawRecord]) -> bytes:
        if self._python_stages is not None:
            return self._python_stages.run(encode(records))
        try:
            return bytes(self._runner.run(encode(records)))
        except Py4JJavaError as error:
            raise from_python(error) from None

    def restart(self) -> None:
        if self._python_stages is not None:
            self._python_stages.restart()
        else:
            self._runner.restart()

    def store(self, name: str, kind: str, stage: int) -> list[StoreRow]:  # noqa: ARG002 - in the interface
        return rows_of(self._runner.store(name), *store_types(self._jvm, self._compiled, name))

    def counters(self) -> dict[str, dict[str, int]]:
        return read_counters(self._compiled, self._runner.counters())

    def close(self) -> None:
        if self._python_stages is not None:
            self._python_stages.close()


class SparkEngine:
    """Runs the program in a real streaming query over topics in memory."""

    def __init__(self, compiled: Compiled, session: SparkSession, spark_partitions: int | None) -> None:
        self._compiled = compiled
        self._session = session
        self._partitions = spark_partitions
        jvm: Any = session._jvm
        self._topics = jvm.org.apache.spark.sql.brookmere.MemoryTopics(session._jsparkSession)
        self._routed = jvm.java.util.HashSet()
        for node in compiled.routed:
            self._routed.add(node)
        self._checkpoint = Path(tempfile.mkdtemp(prefix="brookmere-test-"))
        self._out: list[bytes] = []
        self._query = self._start()

    def _start(self) -> Query:
        return Query.start(
            self._compiled,
            BatchConnection(DataFrame(self._topics.frame(), self._session), self._write),
            session=self._session,
            options=SparkOptions(self._checkpoint, spark_partitions=self._partitions),
        )

    def _write(self, rows: DataFrame, _batch: int) -> None:
        self._out.append(bytes(self._query.assembly.collect(rows._jdf, self._routed)))

    def run(self, records: Sequence[RawRecord]) -> bytes:
        self._out.clear()
        if records:
            self._topics.add(encode(records))
            self._query.process_all_available()
        return b"".join(self._out)

    def restart(self) -> None:
        self._query.stop()
        self._query = self._start()

    def store(self, name: str, kind: str, stage: int) -> list[StoreRow]:
        rows: list[StoreRow] = []
        oldest = self._oldest(name, stage)
        if kind in ("memory", "auto"):
            columns = ("key.task AS task", "user_map_key AS key", "user_map_value AS kept")
            kept = self._state(f"{name}-log", stage).selectExpr(*columns).collect()
            chunks = [(r["task"], r["key"]["chunk"], r["kept"]["v"]["data"]) for r in kept]
            rows += self._log_rows(name, chunks, oldest)
        if kind in ("rocksdb", "auto"):
            rows += self._typed_rows(name, stage, oldest)
        return rows

    def _oldest(self, name: str, stage: int) -> dict[int, int]:
        """Return, by task, the earliest time that can still be found in a store."""
        found = self._compiled.plan.topology.store(name)
        # All versions are shown: the latest one is kept, however old it is.
        if found.retention_ms is None or found.kind == "versioned":
            return {}
        times = self._state("brookmere-task", stage).selectExpr(
            "key.task AS task", "user_map_key.name AS name", "user_map_value.v.time AS time"
        )
        jvm: Any = self._session._jvm
        oldest = jvm.org.apache.spark.sql.brookmere.Assembly.oldest
        return {
            r["task"]: int(oldest(self._compiled.program, name, r["time"]))
            for r in times.where(F.col("name") == f"store:{name}").collect()
        }

    def _typed_rows(self, name: str, stage: int, oldest: dict[int, int]) -> list[StoreRow]:
        store = self._compiled.plan.topology.store(name)
        types = [
            _parse_datatype_json_string(t) for t in store_types(self._session._jvm, self._compiled, name)
        ]
        key_type = types[0]
        state = self._state(name, stage)
        if store.kind in ("window", "session") and isinstance(key_type, StructType):
            key_type = key_type["key"].dataType
            state = state.select("*", "user_map_value.time", "user_map_value.number")
        elif store.kind == "versioned":
            state = state.select("*", "user_map_value.time", F.lit(0).alias("number"))
        else:
            state = state.select("*", F.lit(_EVER).alias("time"), F.lit(0).alias("number"))
        row_types = [
            t if isinstance(t, StructType) else StructType().add("value", t) for t in (key_type, types[1])
        ]
        # The state has generated names only; a cast by position restores the user's.
        key = F.col("user_map_key").cast(row_types[0])
        value = F.col("user_map_value.v").cast(row_types[1])
        kept = state.select(key, value, "user_map_value.ts", "time", "number", "key.task").collect()
        if store.kind == "versioned":
            return [
                (_of(r[0], key_type), None if r[2] == _DELETED else _of(r[1], types[1]), int(r[3]))
                for r in kept
            ]
        return [
            (_shown(store, _of(r[0], key_type), int(r[3]), int(r[4])), _of(r[1], types[1]), int(r[2]))
            for r in kept
            if r[3] >= oldest.get(r[5], -_EVER)
        ]

    def _state(self, variable: str, stage: int) -> DataFrame:
        operator = self._compiled.plan.operator_of(stage)
        reader = self._session.read.format("statestore").option("operatorId", operator)
        return reader.option("stateVarName", variable).load(str(self._checkpoint))

    def _log_rows(
        self, name: str, chunks: list[tuple[int, int, bytearray]], oldest: dict[int, int]
    ) -> list[StoreRow]:
        jvm: Any = self._session._jvm
        types = store_types(jvm, self._compiled, name)
        rows: list[StoreRow] = []
        for task in sorted({task for task, _, _ in chunks}):
            ordered = sorted((number, data) for t, number, data in chunks if t == task and number >= 0)
            logs = [data for _, data in ordered]
            assembly = jvm.org.apache.spark.sql.brookmere.Assembly
            kept = assembly.readLog(self._compiled.program, name, logs, oldest.get(task, -_EVER))
            rows += rows_of(kept, *types)
        return rows

    def counters(self) -> dict[str, dict[str, int]]:
        return self._query.counters()

    def close(self) -> None:
        self._query.stop()
        shutil.rmtree(self._checkpoint, ignore_errors=True)


def rows_of(found: Any, key_type: str, value_type: str) -> list[StoreRow]:
    """Return the rows that the kernel passes as pickled lists."""
    keys, values = python_values(found.keys(), key_type), python_values(found.values(), value_type)
    return [(k, v, int(t)) for k, v, t in zip(keys, values, found.times(), strict=True)]


def _shown(store: Store, key: Any, time: int, number: int) -> Any:
    if store.kind == "session":
        return {"key": key, "start": number, "end": time}
    if store.kind == "window":
        end = _EVER if store.window_ms is None else time + store.window_ms
        return {"key": key, "start": time, "end": end}
    return key


def _of(row: Row, data_type: DataType) -> Any:
    value = plain(row)
    return value if isinstance(data_type, StructType) else value["value"]


def store_types(jvm: Any, compiled: Compiled, name: str) -> tuple[str, str]:
    """Return the types of a store's keys and values, in Spark's JSON form."""
    known = jvm.org.apache.spark.sql.brookmere.Assembly.stores(compiled.program)
    return next((str(s[2]), str(s[3])) for s in known if s[0] == name)


def encode(records: Sequence[RawRecord]) -> bytearray:
    """Encode records as the kernel reads them."""
    out = bytearray(struct.pack(">i", len(records)))
    for r in records:
        out += struct.pack(">iiqqq", r.topic, r.partition, r.offset, r.timestamp, r.clock)
        _field(out, r.key)
        _field(out, r.value)
        out += struct.pack(">i", len(r.headers))
        for name, value in r.headers:
            _field(out, name.encode())
            _field(out, value)
    return out


def _field(out: bytearray, data: bytes | None) -> None:
    if data is None:
        out += struct.pack(">i", -1)
    else:
        out += struct.pack(">i", len(data)) + data

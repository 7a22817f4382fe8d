"""The kernel's program builder as Python sees it: its methods, and the values that they take.

The methods are those of `kernel/program/ProgramBuilder.scala`, the dataclasses those of
`kernel/program/NodeSpecs.scala`, with names in snake case; docs of each are there.
tests/run/test_program_builder.py compares both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, cast, overload

from pyspark.sql import Column, SparkSession

from brookmere.run.jvm import camel_case, to_java

_PACKAGE = "brookmere.kernel.program"


class Reader(Protocol):
    """Decodes bytes; an object in the JVM."""

    def result(self) -> Any:
        """Return the type of what it reads."""


class Writer(Protocol):
    """Encodes a key or value; an object in the JVM."""


class SourceTime(Protocol):
    """Where a source takes the time of its records from; an object in the JVM."""


class Program(Protocol):
    """The finished program; an object in the JVM."""

    def needsWall(self) -> bool:  # noqa: N802
        """Return whether batches carry the wall clock."""

    def needsTicks(self) -> bool:  # noqa: N802
        """Return whether the wall clock starts batches."""


@dataclass(frozen=True, slots=True)
class Place:
    java_class: ClassVar[str] = f"{_PACKAGE}.Place"
    number: int
    name: str
    stage: int
    parents: Sequence[int]


@dataclass(frozen=True, slots=True)
class SourceSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.SourceSpec"
    topics: Sequence[int]
    is_global: bool
    on_bad_record: str | None


@dataclass(frozen=True, slots=True)
class StoreSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.StoreSpec"
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class TimedStoreSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.TimedStoreSpec"
    name: str
    kind: str
    retention: int


@dataclass(frozen=True, slots=True)
class PythonStoreSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.PythonStoreSpec"
    name: str
    kind: str
    key_type: str
    value_type: str
    shape: str
    retention: int
    window_ms: int


@dataclass(frozen=True, slots=True)
class FoldSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.FoldSpec"
    initial: Column | None
    step: Column
    merge: Column | None
    value_type: str
    result: Column | None


@dataclass(frozen=True, slots=True)
class PythonFoldSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.PythonFoldSpec"
    step: int
    other: int
    value_type: str
    has_initial: bool
    takes_key: bool


@dataclass(frozen=True, slots=True)
class TimeWindowSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.TimeWindowSpec"
    size: int
    advance: int
    grace: int
    begin: int


@dataclass(frozen=True, slots=True)
class SlidingWindowSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.SlidingWindowSpec"
    difference: int
    grace: int


@dataclass(frozen=True, slots=True)
class SessionWindowSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.SessionWindowSpec"
    gap: int
    grace: int


@dataclass(frozen=True, slots=True)
class EmissionSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.EmissionSpec"
    send_old: bool
    on_close: bool
    all: bool
    skip_nulls: bool


@dataclass(frozen=True, slots=True)
class SuppressSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.SuppressSpec"
    until_close: bool
    wait_ms: int
    max_records: int
    max_bytes: int
    stop_when_full: bool
    is_session: bool


@dataclass(frozen=True, slots=True)
class JoinSpanSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.JoinSpanSpec"
    before: int
    after: int
    grace: int


@dataclass(frozen=True, slots=True)
class StreamJoinSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.StreamJoinSpec"
    is_left: bool
    is_outer: bool
    buffer: int
    other: str
    clock: str
    drop_late: bool
    wait_for_grace: bool


@dataclass(frozen=True, slots=True)
class LookupSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.LookupSpec"
    table: int
    is_left: bool
    joiner: Column


@dataclass(frozen=True, slots=True)
class TableJoinSpec:
    java_class: ClassVar[str] = f"{_PACKAGE}.TableJoinSpec"
    other: int
    is_left: bool
    how: str
    joiner: Column


@dataclass(frozen=True, slots=True)
class LogStart:
    """Since when the changelog of a store exists.

    A task that knows of no `since`, or of another, writes all its rows. `is_new` says that the store may have
    older rows for which no record may ever arrive.
    """

    java_class: ClassVar[str] = f"{_PACKAGE}.LogStart"
    since: int = 0
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class DestinationSpec:
    """Where the rows of the last stage go, by the number of the sink."""

    java_class: ClassVar[str] = "brookmere.kernel.rows.DestinationSpec"
    topics: Mapping[int, str]
    routed: Set[int]
    """The sinks whose topic comes with each record."""
    taps: Set[int]
    windows: Mapping[int, int]
    """How many bytes at the end of the keys are a window: the rest of the key decides the partition."""
    changelogs: Set[int]
    """The sinks that write to the partition of their task, whatever the key."""


class ProgramBuilder(Protocol):
    """Builds a program node by node: parents before children."""

    def exchange_before(self, stages: Sequence[int]) -> None: ...

    # ---- sources and sinks ----

    @overload
    def reader(self, kind: str) -> Reader: ...
    @overload
    def reader(self, decode: Column) -> Reader: ...
    def reader(self, *arguments: Any, **named: Any) -> Reader: ...
    def source_time(
        self, key: Reader, value: Reader, extract: Column | None, is_wall: bool, on_invalid: str
    ) -> SourceTime: ...
    def source(self, at: Place, spec: SourceSpec, key: Reader, value: Reader, time: SourceTime) -> None: ...
    def internal_source(self, at: Place, senders: Sequence[int]) -> None: ...
    @overload
    def writer(self, node: int, is_key: bool, kind: str) -> Writer | None: ...
    @overload
    def writer(self, node: int, is_key: bool, encode: Column) -> Writer: ...
    def writer(self, *arguments: Any, **named: Any) -> Writer | None: ...
    def windowed_writer(self, node: int, kind: str, session: bool) -> Writer | None: ...
    def sink(self, at: Place, key: Writer, value: Writer, topic: Column | None) -> None: ...
    def late_sink(self, at: Place, of: int, input: int, key: Writer, value: Writer) -> None: ...
    def changelog(self, at: Place, key: Writer, value: Writer, log: LogStart) -> None: ...
    def repartition(self, at: Place, target: int, partitions: int, key: Writer) -> None: ...

    # ---- streams ----

    def filter(self, at: Place, predicate: Column, negate: bool) -> None: ...
    def project(self, at: Place, key: Column | None, value: Column | None) -> None: ...
    def flat_map(self, at: Place, array: Column) -> None: ...
    def flat_map_values(self, at: Place, array: Column) -> None: ...
    def branch(self, at: Place, has_default: bool) -> None: ...
    def branch_test(self, branch: int, predicate: Column) -> None: ...
    def branch_target(self, branch: int, position: int, child: int) -> None: ...
    def pass_through(self, at: Place) -> None: ...
    def key_not_null(self, at: Place) -> None: ...
    def tap(self, at: Place) -> None: ...

    # ---- tables and aggregates ----

    def table_source(self, at: Place, store: StoreSpec | None, send_old: bool) -> None: ...
    def versioned_source(self, at: Place, store: StoreSpec, history: int, send_old: bool) -> None: ...
    def expiring_table(self, at: Place, store: StoreSpec, ttl: int, send_old: bool) -> None: ...
    def table_filter(
        self,
        at: Place,
        predicate: Column,
        negate: bool,
        store: StoreSpec | None,
        send_old: bool,
        versioned: bool,
    ) -> None: ...
    def table_map_values(
        self, at: Place, value: Column, store: StoreSpec | None, send_old: bool, sees_null: bool
    ) -> None: ...
    def table_to_stream(self, at: Place) -> None: ...
    def table_group(self, at: Place, key: Column, value: Column, versioned: bool) -> None: ...
    def aggregate_type(
        self, initial: Column | None, parents: Sequence[int], steps: Sequence[Column | None]
    ) -> str: ...
    def aggregate(
        self, at: Place, store: StoreSpec, fold: FoldSpec, send_old: bool, merges: bool
    ) -> None: ...
    def combine(self, at: Place, of: int, fold: FoldSpec) -> None: ...
    def table_aggregate(
        self, at: Place, store: StoreSpec, fold: FoldSpec, subtractor: Column | None, send_old: bool
    ) -> None: ...

    # ---- windows and time ----

    def time_windows(
        self,
        at: Place,
        store: TimedStoreSpec,
        fold: FoldSpec,
        emission: EmissionSpec,
        windows: TimeWindowSpec,
    ) -> None: ...
    def sliding_windows(
        self,
        at: Place,
        store: TimedStoreSpec,
        fold: FoldSpec,
        emission: EmissionSpec,
        windows: SlidingWindowSpec,
    ) -> None: ...
    def session_windows(
        self,
        at: Place,
        store: TimedStoreSpec,
        fold: FoldSpec,
        emission: EmissionSpec,
        windows: SessionWindowSpec,
    ) -> None: ...
    def suppress(self, at: Place, store: StoreSpec, spec: SuppressSpec) -> None: ...
    def dedupe(self, at: Place, store: StoreSpec, by: Column | None, within: int) -> None: ...
    def close_idle(self, number: int, ms: int) -> None: ...

    # ---- joins ----

    def join_buffer(self, at: Place, store: TimedStoreSpec) -> None: ...
    def stream_join(
        self,
        at: Place,
        join: StreamJoinSpec,
        unmatched: StoreSpec | None,
        span: JoinSpanSpec,
        joiner: Column,
    ) -> None: ...
    def stream_self_join(self, at: Place, store: str, span: JoinSpanSpec, joiner: Column) -> None: ...
    def stream_table_join(self, at: Place, lookup: LookupSpec) -> None: ...
    def waiting_join(
        self, at: Place, lookup: LookupSpec, store: StoreSpec, grace: int, drop_late: bool
    ) -> None: ...
    def global_join(self, at: Place, lookup: LookupSpec, key: Column) -> None: ...
    def table_join(self, at: Place, join: TableJoinSpec, send_old: bool, versioned: bool) -> None: ...
    def table_join_merge(self, at: Place, how: str, store: StoreSpec | None, send_old: bool) -> None: ...
    def subscription_send(self, at: Place, key: Column, is_left: bool, versioned: bool) -> None: ...
    def subscription_receive(self, at: Place, store: StoreSpec) -> None: ...
    def subscription_join(self, at: Place, right: int) -> None: ...
    def foreign_update(self, at: Place, store: str, versioned: bool) -> None: ...
    def response_join(self, at: Place, lookup: LookupSpec) -> None: ...
    def count_copies_from(self, number: int) -> None: ...
    def copies_of(self, number: int) -> Sequence[int]: ...
    def is_hurried(self, number: int) -> bool: ...

    # ---- Python stages ----

    def python_node(
        self, at: Place, key_type: str | None, value_type: str | None, sends_table: bool, needs_ticks: bool
    ) -> None: ...
    def python_aggregate(self, at: Place, store: StoreSpec, fold: PythonFoldSpec, send_old: bool) -> None: ...
    def python_time_windows(
        self,
        at: Place,
        store: TimedStoreSpec,
        fold: PythonFoldSpec,
        emission: EmissionSpec,
        windows: TimeWindowSpec,
    ) -> None: ...
    def python_sliding_windows(
        self,
        at: Place,
        store: TimedStoreSpec,
        fold: PythonFoldSpec,
        emission: EmissionSpec,
        windows: SlidingWindowSpec,
    ) -> None: ...
    def python_session_windows(
        self,
        at: Place,
        store: TimedStoreSpec,
        fold: PythonFoldSpec,
        emission: EmissionSpec,
        windows: SessionWindowSpec,
    ) -> None: ...
    def python_table(self, number: int, store: str) -> None: ...
    def python_store(self, stage: int, store: PythonStoreSpec) -> int: ...
    def python_copy(self, stage: int, table: int, store: str) -> int: ...
    def python_code(self, stage: int, code: bytes) -> None: ...
    def store_changelog(self, at: Place, store: int, key: Writer, value: Writer, log: LogStart) -> None: ...
    def move_time(self, source: int, stage: int, subtopology: int, is_due: bool) -> None: ...

    # ---- results ----

    def is_made(self, number: int) -> bool: ...
    def column_type(self, number: int, column: Column) -> str: ...
    def key_type(self, number: int) -> str: ...
    def value_type(self, number: int) -> str: ...
    def pickle(self, number: int, is_key: bool, packed: Sequence[bytes | None]) -> bytes: ...
    def build(
        self, continue_on: Sequence[str], last_per_batch: bool, cache_bytes: int, log_bytes: int
    ) -> Program: ...


def program_builder(session: SparkSession, stages: int, tasks: int, topics: Sequence[str]) -> ProgramBuilder:
    """Return a new builder in the JVM of a session."""
    jvm: Any = session._jvm
    made = jvm.brookmere.kernel.program.ProgramBuilder(session._jsparkSession, stages, tasks, list(topics))
    return cast(ProgramBuilder, _JavaProgramBuilder(jvm, made))


class _JavaProgramBuilder:
    """Calls the methods of the builder in the JVM."""

    def __init__(self, jvm: Any, made: Any) -> None:
        self._jvm = jvm
        self._made = made

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._made, camel_case(name))

        def call(*arguments: Any) -> Any:
            return method(*(to_java(self._jvm, argument) for argument in arguments))

        return call

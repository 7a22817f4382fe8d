"""The code of a stage: its nodes, its stores, and the work of each node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brookmere.worker.task.output import Output
    from brookmere.worker.task.punctuation import PunctuationQueue, TaskTime
    from brookmere.worker.task.row import Row

StoreKind = Literal["key_value", "window", "session", "versioned"]


class _Mark:
    """A marker that is never a key, a value or headers."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


SAME: Final[Any] = _Mark("SAME")
"""The headers of the current record."""

KEEP: Final[Any] = _Mark("KEEP")
"""The key or the value of the current record, which need not be converted."""


@dataclass(frozen=True, slots=True)
class TypeCode:
    """The type of keys or values: as JSON of Spark, and how Python converts them further.

    `made` names its dataclasses (`annotations.resolved`). A windowed key is sent as a struct of key, start
    and end; a pickled value is sent as bytes.
    """

    json: str
    made: object = None
    is_windowed: bool = False
    is_pickled: bool = False


@dataclass(frozen=True, slots=True)
class Child:
    """A node that gets what another one forwards; `inside`: in the same stage."""

    name: str
    number: int
    inside: bool = False


@dataclass(frozen=True, slots=True)
class NodeCode:
    """A node: its work, the types that it receives and sends, and its children, in order.

    `moves_time`: its records come from a source, so that they move the stream time of the task.
    `timeline`: nodes of a task that share this number share stream time. It is the sub-topology, except in a
    test driver whose sub-topologies are one task.
    """

    number: int
    name: str
    work: Work = field(repr=False)
    key: TypeCode | None = None
    value: TypeCode | None = None
    out_key: TypeCode | None = None
    out_value: TypeCode | None = None
    is_table: bool = False
    sends_table: bool = False
    children: tuple[Child, ...] = ()
    stores: tuple[str, ...] = ()
    moves_time: bool = False
    subtopology: int = 0
    timeline: int = 0


@dataclass(frozen=True, slots=True)
class StoreCode:
    """A store. `is_read`: the copy of a table, which processors can only read."""

    name: str
    kind: StoreKind
    key: TypeCode | None = None
    value: TypeCode | None = None
    retention_ms: int | None = None
    window_ms: int | None = None
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class StageCode:
    """A stage. Messages refer to stores and topics by their positions in `stores` and `topics`.

    `last_per_batch`: tables send one change per key and batch.
    """

    stage: int
    nodes: tuple[NodeCode, ...]
    stores: tuple[StoreCode, ...] = ()
    topics: tuple[str, ...] = ()
    application: str = ""
    last_per_batch: bool = False


@dataclass(frozen=True, slots=True)
class TaskId:
    """A task: the number of its sub-topology, and the partition it reads."""

    subtopology: int
    partition: int

    def __str__(self) -> str:
        return f"{self.subtopology}_{self.partition}"


class Clock:
    """A time that a task keeps between batches."""

    __slots__ = ("time",)

    def __init__(self, time: int) -> None:
        self.time = time


class Runtime(Protocol):
    """What a node gets from its task, in `Work.build`."""

    application: str
    last_per_batch: bool
    row: Row

    def output(self, node: NodeCode) -> Output:
        """Return the output of a node."""
        ...

    def store(self, name: str) -> Any:
        """Return a store of the task."""
        ...

    def clock(self, name: str, first: int) -> Clock:
        """Return a clock of the task, which starts at `first`."""
        ...

    def line(self, name: str, make: Callable[[], Any]) -> Any:
        """Return an object that nodes of a task share by name; the first call makes it."""
        ...

    def wall_queue(self) -> PunctuationQueue:
        """Return the punctuations by wall clock."""
        ...

    def once(self, factory: Callable[[], Any]) -> Any:
        """Return the object that equal factories share in this process: made and opened once."""
        ...

    def count_dropped(self, number: int, records: int = 1) -> None:
        """Count records that the node of this number ignores."""
        ...

    def task_of(self, subtopology: int) -> TaskId:
        """Return the id of the task in a sub-topology."""
        ...

    def time_of(self, timeline: int) -> TaskTime:
        """Return the stream time of the nodes that share it, with the punctuations that wait for it."""
        ...

    @property
    def wall_clock(self) -> int:
        """The wall clock, as of the last message."""
        ...


class Work(Protocol):
    """The work of a node, as data that can be pickled."""

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        ...


@dataclass(frozen=True, slots=True)
class ProcessWork:
    """Processes records with a processor of user code. The supplier returns one for each task.

    `reads_stream_time` and `uses_wall_clock`: whether the stage gets these times.
    """

    supplier: Callable[[], Any]
    fixed_key: bool = False
    reads_stream_time: bool = True
    uses_wall_clock: bool = True

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the processor, running on one task."""
        from brookmere.worker.task.processors import processing

        return processing(self, node, runtime)


class ReceiveAll(Protocol):
    """Receives records one by one: sets the row for each, and calls `fail` for those that fail."""

    def __call__(
        self,
        keys: list[Any],
        values: list[Any],
        times: list[int],
        headers: Iterable[Any],
        fail: Callable[[BaseException], None],
    ) -> None: ...


class Running:
    """A node that runs on one task. It forwards with `out`; an exception fails the current record."""

    prepares = False
    """It handles the records of a chunk together; see `prepare`."""
    takes_wire = False
    """It receives keys and values in wire form."""
    receive_all: ReceiveAll | None = None
    """Receives all records of a chunk, where that is faster than calls of `receive`."""

    out: Output

    def begin(self) -> None:
        """Start, after all nodes of the task are built, parents first."""

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:
        """Take a record of a stream."""
        raise NotImplementedError

    def receive_change(self, key: Any, new: Any, old: Any, ts: int, is_latest: bool) -> None:
        """Take a change of a table."""
        raise NotImplementedError

    def prepare(
        self, keys: list[Any], values: list[Any], times: list[int], headers: list[Any] | None
    ) -> None:
        """Take all records of a chunk for this node, before they are received one by one."""

    def end_batch(self) -> None:
        """Send what is held back until the end of the batch."""

    def close(self) -> None:
        """Close; nothing can be forwarded any more."""

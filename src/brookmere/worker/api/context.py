"""The context of a processor: outputs, stores, times, and the origin of the current record."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from brookmere.durations import Duration, to_timedelta
from brookmere.names import nearest
from brookmere.record import Record
from brookmere.worker.stores.times import LATEST
from brookmere.worker.task.punctuation import NEVER, Schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from brookmere.record import Header
    from brookmere.worker.protocol.stage_code import NodeCode, ProcessWork, Runtime, TaskId
    from brookmere.worker.task.output import Forward, Output

Punctuation = Literal["stream_time", "wall_clock"]
_MILLISECOND = timedelta(milliseconds=1)


class ProcessorContext:
    """What a processor gets in `init`. It is for this processor on this task only."""

    def __init__(self, work: ProcessWork, node: NodeCode, runtime: Runtime, output: Output) -> None:
        self._work = work
        self._node = node
        self._runtime = runtime
        self._row = runtime.row
        self._time = runtime.time_of(node.timeline).clock
        self._output = output
        self._send: Forward = self._refuse
        self._ways: dict[str, Forward] = {child.name: self._refuse for child in node.children}
        self._schedules: dict[tuple[str, int], int] | None = {}
        self.key: Any = None
        """The key of the record that the processor got."""

    def forward(self, record: Record, to: str | None = None) -> None:
        """Send a record to the children of the processor, or to the one whose name is given."""
        if to is None and record.__class__ is Record:
            ts = record.timestamp
            if ts.__class__ is int and 0 <= ts <= LATEST:
                self._send(record.key, record.value, ts, record.headers)
                return
        self._forward_with_care(record, to)

    def _forward_with_care(self, record: Record, to: str | None) -> None:
        if not isinstance(record, Record):
            raise TypeError(
                f"{self._where} can forward Records only: found {type(record).__name__}; "
                "use record.with_value(...) or brookmere.Record(key, value, timestamp)"
            )
        ts = record.timestamp
        if type(ts) is not int or not 0 <= ts <= LATEST:
            raise ValueError(
                f"{self._where} forwards a record with the timestamp {ts!r}: "
                "a timestamp is an int, the milliseconds since 1970"
            )
        if to is None:
            self._send(record.key, record.value, ts, record.headers)
        else:
            self._way(to)(record.key, record.value, ts, record.headers)

    def store(self, name: str) -> Any:
        """Return a store that the processor was connected with."""
        if name not in self._node.stores:
            raise LookupError(
                f"{self._where} has no store {name!r}. {_known('store', name, self._node.stores)}"
            )
        return self._runtime.store(name)

    def schedule(self, interval: Duration, kind: Punctuation, callback: Callable[[int], None]) -> Schedule:
        """Call `callback(time in milliseconds)` at each interval of stream time or of the wall clock.

        By stream time the first call comes with the first record, the next ones when stream time reaches a
        multiple of the interval; by the wall clock the first one comes after one interval. Calls that were
        missed are left out. What is scheduled in `init` goes on after a restart where it was.
        """
        step = self._interval(interval)
        if kind not in ("stream_time", "wall_clock"):
            raise ValueError(f"{self._where} schedules by {kind!r}; give 'stream_time' or 'wall_clock'")
        if not callable(callback):
            raise TypeError(
                f"{self._where} schedules {callback!r}, which cannot be called; give a function of the time"
            )
        is_wall = kind == "wall_clock"
        self._need("uses_wall_clock" if is_wall else "reads_stream_time", "schedule()")
        first = self._runtime.wall_clock + step if is_wall else 0
        clock = place = None
        if self._schedules is not None:
            number = self._schedules[kind, step] = self._schedules.get((kind, step), -1) + 1
            name = f"node:{self._node.name}:schedule:{kind}:{step}:{number}"
            clock = self._runtime.clock(name, first)
            place = self._runtime.clock(f"{name}:place", NEVER)
            first = clock.time
        schedule = Schedule(self._node, first, step, callback, clock, place)
        queue = self._runtime.wall_queue() if is_wall else self._runtime.time_of(self._node.timeline).queue
        queue.add(schedule)
        return schedule

    @property
    def stream_time(self) -> int:
        """The highest timestamp of a record of the task, -1 before the first."""
        self._need("reads_stream_time", "stream_time")
        return self._time.time

    @property
    def wall_clock(self) -> int:
        """The time of day in milliseconds since 1970."""
        return self._runtime.wall_clock

    @property
    def task(self) -> TaskId:
        """The task: its sub-topology and its partition."""
        return self._runtime.task_of(self._node.subtopology)

    @property
    def application_id(self) -> str:
        """The id of the application."""
        return self._runtime.application

    @property
    def node(self) -> str:
        """The name of the node."""
        return self._node.name

    @property
    def timestamp(self) -> int:
        """The timestamp of the current record; in a punctuation, the time it is called with."""
        return self._row.timestamp

    @property
    def headers(self) -> tuple[Header, ...]:
        """The headers of the current record."""
        return self._row.headers

    @property
    def topic(self) -> str | None:
        """The topic of the root record, even after a repartition; None in a punctuation."""
        return self._row.topic

    @property
    def partition(self) -> int | None:
        """The partition of the root record; None in a punctuation."""
        return self._row.partition

    @property
    def offset(self) -> int | None:
        """The offset of the root record; None in a punctuation."""
        return self._row.offset

    def open(self) -> None:
        """End `init`. What is scheduled from now on is lost on a restart."""
        self._schedules = None
        self._send = self._output.forward
        self._ways = {name: self._output.to(name).forward for name in self._ways}

    def close(self) -> None:
        """Forbid forwarding."""
        self._send = self._refuse
        self._ways = dict.fromkeys(self._ways, self._refuse)

    def _refuse(self, *_: Any, **__: Any) -> None:
        raise RuntimeError(
            f"{self._where} forwards in init() or close(), where there is no record to follow; "
            "do it in process() or in a punctuation"
        )

    @property
    def _where(self) -> str:
        return f"the processor {self._node.name!r}"

    def _way(self, to: str) -> Any:
        way = self._ways.get(to)
        if way is None:
            raise LookupError(f"{self._where} has no child {to!r}. {_known('child', to, self._ways)}")
        return way

    def _interval(self, interval: Duration) -> int:
        try:
            length = to_timedelta(interval)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self._where} schedules every {interval!r}: {error}") from None
        if length < _MILLISECOND:
            raise ValueError(
                f"{self._where} schedules every {interval}; the shortest interval is a millisecond"
            )
        return length // _MILLISECOND

    def _need(self, attribute: str, use: str) -> None:
        if not getattr(self._work, attribute):
            raise RuntimeError(
                f"{self._where} uses {use}, which could not be read from its code; "
                f"set the class attribute {attribute} = True"
            )


class FixedKeyContext(ProcessorContext):
    """The context of a processor that keeps keys."""

    def forward(self, record: Record, to: str | None = None) -> None:
        """Send a record with the key of the current record."""
        self._check(record)
        super().forward(record, to)

    def _check(self, record: Record) -> None:
        # A punctuation has no current record: it may forward what it has kept.
        if isinstance(record, Record) and self._row.is_record and record.key != self.key:
            raise ValueError(
                f"{self._where} keeps keys: found {record.key!r} forwarded for a record of {self.key!r}; "
                "use process() instead of process_values()"
            )


def _known(what: str, name: str, names: Any) -> str:
    known = sorted(names)
    near = nearest(name, known) if isinstance(name, str) else None
    if near is not None:
        return f"Did you mean {near!r}?"
    if known:
        return f"It has {', '.join(map(repr, known))}."
    return f"It has no {'stores; connect them with stores=[...]' if what == 'store' else 'children'}."

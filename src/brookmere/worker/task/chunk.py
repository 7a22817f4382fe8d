"""Runs the records of a chunk, in order, with the punctuations that become due."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from brookmere.worker.task.collector import RECEIVED
from brookmere.worker.task.failures import FAILURES
from brookmere.worker.task.row import NOTHING
from brookmere.worker.types.python_values import reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brookmere.worker.protocol.stage_code import Clock, NodeCode, Running, TypeCode
    from brookmere.worker.task.task import Task

STREAM_TIME: Final = -4
WALL_CLOCK: Final = -5
TICK: Final = -6
BUSY_TICK: Final = -7
DUE: Final = -8


Columns = tuple[list[Any], list[Any], Iterable[Any]]


class Entry:
    """A node that gets records of a chunk, and the conversions of their keys and values."""

    __slots__ = ("clock", "node", "read_key", "read_value", "running")

    def __init__(self, node: NodeCode, running: Running, clock: Clock) -> None:
        self.node = node
        self.running = running
        self.clock = clock
        self.read_key = None if running.takes_wire else reader(node.key)
        self.read_value = None if running.takes_wire else reader(node.value)


class Chunk:
    """Records for one task, as columns. `nodes` is one number if all are for the same node."""

    __slots__ = ("headers", "keys", "nodes", "seqs", "sources", "times", "values")

    def __init__(
        self,
        nodes: int | list[int],
        keys: list[Any],
        values: list[Any],
        times: list[int],
        headers: list[Any] | None,
        sources: Sequence[int],
        seqs: Sequence[int],
    ) -> None:
        self.nodes = nodes
        self.keys = keys
        self.values = values
        self.times = times
        self.headers = headers
        self.sources = sources
        self.seqs = seqs

    def keys_of(self, kind: TypeCode | None, task: Task) -> Iterable[Any]:
        """Return the keys of records whose node has keys of this type, as they came."""
        entries = task.entries
        if isinstance(self.nodes, int):
            entry = entries.get(self.nodes)
            return self.keys if entry is not None and entry.node.key == kind else ()
        fitting = {number for number, entry in entries.items() if entry.node.key == kind}
        return [key for number, key in zip(self.nodes, self.keys, strict=True) if number in fitting]

    def run(self, task: Task) -> None:
        """Process all records."""
        row = task.row
        row.sources, row.seqs = self.sources, self.seqs
        self._prepare(task)
        entry = self._only_entry(task)
        columns = None if entry is None else self._read(entry)
        if entry is None or columns is None:
            self._run_mixed(task)
        elif task.is_timed:
            self._run_timed(columns, entry, task)
        else:
            self._run_alike(columns, entry, task)

    def _only_entry(self, task: Task) -> Entry | None:
        """Return the node that all records are for if they are of a stream and nothing else is to do."""
        if not isinstance(self.nodes, int) or self.nodes < 0:
            return None
        entry = task.entries[self.nodes]
        return None if entry.node.is_table or (task.is_timed and len(task.times) > 1) else entry

    def _prepare(self, task: Task) -> None:
        for number, entry in task.entries.items():
            if not entry.running.prepares:
                continue
            places = [at for at, node in enumerate(self._numbers()) if node == number]
            if places:
                columns: list[Any] = [
                    None if column is None else [column[at] for at in places]
                    for column in (self.keys, self.values, self.times, self.headers)
                ]
                entry.running.prepare(*columns)

    def _run_alike(self, columns: Columns, entry: Entry, task: Task) -> None:
        """Process records of a stream, all for one node, that move no time."""
        row = task.row
        receive_all = entry.running.receive_all
        receive = entry.running.receive
        keys, values, headers = columns
        self._begin_alike(entry, task)
        if receive_all is not None:
            receive_all(keys, values, self.times, headers, lambda error: task.fail(entry.node, error))
            return
        number = 0
        for key, value, ts, heads in zip(keys, values, self.times, headers, strict=False):
            row.headers = row.own_headers = heads
            row.number = number
            row.key = key
            row.value = value
            row.timestamp = ts
            try:
                receive(key, value, ts, heads)
            except FAILURES as error:
                task.fail(entry.node, error)
            number += 1  # noqa: SIM113 - it costs less than enumerate over zip

    def _run_timed(self, columns: Columns, entry: Entry, task: Task) -> None:
        """Process records of a stream, all for one node, that may move time."""
        row = task.row
        receive = entry.running.receive
        moves_time = entry.node.moves_time
        keys, values, headers = columns
        self._begin_alike(entry, task)
        (time,) = task.times
        queue, clock = time.queue, time.clock
        last_source, last_seq = self.sources[0], self.seqs[0]
        number = 0
        all_columns = (keys, values, self.times, headers, self.sources, self.seqs)
        for key, value, ts, heads, source, seq in zip(*all_columns, strict=False):
            if seq != last_seq or source != last_source:
                # Punctuations that a root record makes due come after all its results.
                if queue.due <= clock.time:
                    task.punctuate(queue, clock.time, number - 1)
                    row.is_record = True
                last_source, last_seq = source, seq
            if moves_time and ts > clock.time:
                clock.time = ts
            row.headers = row.own_headers = heads
            row.number = number
            row.key = key
            row.value = value
            row.timestamp = ts
            try:
                receive(key, value, ts, heads)
            except FAILURES as error:
                task.fail(entry.node, error)
            number += 1
        if queue.due <= clock.time:
            task.punctuate(queue, clock.time, number - 1)

    def _begin_alike(self, entry: Entry, task: Task) -> None:
        row = task.row
        task.collector.counts[entry.node.number][RECEIVED] += len(self.keys)
        row.is_latest = row.is_record = True

    def _read(self, entry: Entry) -> Columns | None:
        """Return keys and values as the node takes them; None if some cannot be, which are to fail alone."""
        try:
            keys = self.keys if entry.read_key is None else list(map(entry.read_key, self.keys))
            values = self.values if entry.read_value is None else list(map(entry.read_value, self.values))
        except Exception:  # noqa: BLE001 - dataclasses of user code are made here
            return None
        return keys, values, repeat(()) if self.headers is None else list(map(_headers, self.headers))

    def _run_mixed(self, task: Task) -> None:
        entries = task.entries
        sources, seqs = self.sources, self.seqs
        source: int | None = None
        seq: int | None = None
        last = -1
        times = list(task.times)
        for at, number in enumerate(self._numbers()):
            if sources[at] != source or seqs[at] != seq:
                # Punctuations that a root record makes due come after all its results.
                if source is not None:
                    for time in times:
                        if time.queue.due <= time.clock.time:
                            task.punctuate(time.queue, time.clock.time, last)
                source, seq = sources[at], seqs[at]
            last = at
            if number >= 0:
                self._receive(entries[number], at, task)
            else:
                self._hear(number, at, task)
        for time in times:
            if time.queue.due <= time.clock.time:
                task.punctuate(time.queue, time.clock.time, max(last, 0))

    def _receive(self, entry: Entry, at: int, task: Task) -> None:
        row = task.row
        ts = self.times[at]
        if entry.node.moves_time and ts > entry.clock.time:
            entry.clock.time = ts
        key, value = self.keys[at], self.values[at]
        read_key, read = entry.read_key, entry.read_value
        headers = self.headers[at] if self.headers is not None else None
        row.number = at
        row.key = row.value = NOTHING
        row.timestamp = ts
        row.headers = row.own_headers = _headers(headers)
        row.is_record = True
        task.collector.counts[entry.node.number][RECEIVED] += 1
        try:
            row.key = key = key if read_key is None else read_key(key)
            if entry.node.is_table:
                new, old, row.is_latest = value
                if read is not None:
                    new, old = read(new), read(old)
                entry.running.receive_change(key, new, old, ts, row.is_latest)
            else:
                row.is_latest = True
                row.value = value = value if read is None else read(value)
                entry.running.receive(key, value, ts, row.headers)
        except FAILURES as error:
            task.fail(entry.node, error)

    def _hear(self, number: int, at: int, task: Task) -> None:
        now = self.times[at]
        match number:
            case -4:
                # The key may say which stream time it is about.
                task.advance(self.keys[at], now)
            case -5:
                task.wall = now
            case -6 | -7:
                task.tick(now, at)
            case -8:
                for time in task.advance(self.keys[at], now):
                    if time.queue.due <= time.clock.time:
                        task.punctuate(time.queue, time.clock.time, at)
            case _:
                raise ValueError(f"a row for the node {number}, which there is not")

    def _numbers(self) -> Sequence[int]:
        return [self.nodes] * len(self.keys) if isinstance(self.nodes, int) else self.nodes


def _headers(wire: list[Any] | None) -> tuple[Any, ...]:
    return tuple(wire) if wire else ()

"""A task of a stage: its nodes, their stores and their times."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from brookmere.worker.protocol.stage_code import Clock, ProcessWork, TaskId
from brookmere.worker.stores.groups import GroupedStore
from brookmere.worker.stores.open import opened
from brookmere.worker.stores.read_only import ReadOnlyStore
from brookmere.worker.task.chunk import Chunk, Entry
from brookmere.worker.task.collector import DROPPED, FAILED, Collector
from brookmere.worker.task.failures import FAILURES, described
from brookmere.worker.task.punctuation import PunctuationQueue, TaskTime
from brookmere.worker.task.routes import Ways, sole_sender
from brookmere.worker.task.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brookmere.worker.protocol.process import Process
    from brookmere.worker.protocol.stage_code import NodeCode, Running, StageCode, TypeCode
    from brookmere.worker.task.output import Output
    from brookmere.worker.task.punctuation import Schedule

_LOG = logging.getLogger(__name__)


class Task:
    """The nodes of a stage on one task. It is the Runtime of its nodes and the Keeper of its stores."""

    def __init__(
        self, code: StageCode, number: int, process: Process, clocks: dict[str, int], wall: int | None
    ) -> None:
        self.code = code
        self.number = number
        self.application = code.application
        self.last_per_batch = code.last_per_batch
        self.row = Row(code.topics)
        self.collector = Collector([node.number for node in code.nodes], sole_sender(code))
        self.wall = wall
        self._process = process
        self._saved = dict(clocks)
        self._clocks: dict[str, Clock] = {}
        self._lines: dict[str, Any] = {}
        self._times: dict[int, TaskTime] = {}
        self._wall_queue = PunctuationQueue()
        others = {
            name for node in code.nodes if not isinstance(node.work, ProcessWork) for name in node.stores
        }
        self._of_processors = {store.name for store in code.stores} - others
        self._stores = {
            store.name: opened(store, at, self, for_processors=store.name in self._of_processors)
            for at, store in enumerate(code.stores)
        }
        self._runnings: dict[int, Running] = {}
        self._ways = Ways(code, self.row, self.collector, self._runnings, self.fail)
        self._chunk: Chunk | None = None
        self.is_timed = any(getattr(node.work, "reads_stream_time", False) for node in code.nodes)
        self._update_store_times(clocks)
        # Outputs need the children that they lead to, so children are built first.
        for node in reversed(code.nodes):
            self._runnings[node.number] = node.work.build(node, self)
        for node in code.nodes:
            self._runnings[node.number].begin()
        for queue in (self._wall_queue, *(each.queue for each in self._times.values())):
            queue.restore()
        self.entries = {
            node.number: Entry(node, self._runnings[node.number], self.time_of(node.timeline).clock)
            for node in code.nodes
        }

    # What a batch does

    def _update_store_times(self, clocks: dict[str, int]) -> None:
        """Update the times of the stores from the JVM's."""
        for name, store in self._stores.items():
            if isinstance(store, GroupedStore):
                store.time = max(store.time, clocks.get(f"store:{name}", -1))

    def begin_batch(self, clocks: dict[str, int], wall: int | None) -> None:
        """Begin a batch; caches stay valid."""
        self.wall = wall
        self._update_store_times(clocks)

    def process(self, chunk: Chunk) -> None:
        """Process the records of a chunk."""
        self._chunk = chunk
        chunk.run(self)
        self._chunk = None
        self.row.leave(0, -1)

    def end_batch(self) -> None:
        """Let the nodes send what they hold back until the end of the batch."""
        self.row.leave(0, -1)
        for number, running in self._runnings_in_order():
            try:
                running.end_batch()
            except FAILURES as error:
                self.fail(self.entries[number].node, error)
        self.collector.without_headers(0)

    def result(self, *, is_end: bool) -> tuple[Any, ...]:
        """Return the answer to the JVM; it must be written before `clear`."""
        return self.collector.result(self._changes(), self._changed_clocks() if is_end else None)

    def clear(self, *, is_end: bool) -> None:
        """Clear what was sent to the JVM."""
        self.collector.clear()
        for store in self._stores.values():
            # Tables send the last update of a batch with the value before the batch.
            if is_end or store.name in self._of_processors:
                store.settle()

    def close(self) -> None:
        """Close the nodes. Failures are only logged: no record is left to report them with."""
        self.row.leave(0, -1)
        for number, running in self._runnings_in_order():
            try:
                running.close()
            except FAILURES:
                _LOG.exception("The node %r failed in close()", self.entries[number].node.name)

    # Punctuation

    @property
    def times(self) -> list[TaskTime]:
        """The stream times of the task, one per sub-topology."""
        return list(self._times.values())

    def punctuate(self, queue: PunctuationQueue, now: int, row: int) -> None:
        """Call what is due; the outputs come after those of a row."""
        since = len(self.collector.rows)
        queue.punctuate(now, lambda schedule, at: self._call(schedule, at, row))
        self.collector.without_headers(since)

    def tick(self, now: int, row: int) -> None:
        """Advance the wall clock and call what is due."""
        self.wall = now
        self.punctuate(self._wall_queue, now, row)

    def advance(self, timeline: int | None, now: int) -> list[TaskTime]:
        """Advance one stream time of the task, or all of them, and return those."""
        times = [time for number, time in self._times.items() if timeline in (None, number)]
        for each in times:
            each.clock.time = max(each.clock.time, now)
        return times

    def _call(self, schedule: Schedule, now: int, row: int) -> None:
        self.row.leave(row, now)
        try:
            schedule.callback(now)
        except FAILURES as error:
            self.fail(schedule.node, error)

    # What nodes ask for: see code.Runtime

    def output(self, node: NodeCode) -> Output:
        return self._ways.output(node)

    def store(self, name: str) -> Any:
        store = self._stores[name]
        return ReadOnlyStore(store) if store.code.is_read else store

    def clock(self, name: str, first: int) -> Clock:
        found = self._clocks.get(name)
        if found is None:
            found = self._clocks[name] = Clock(self._saved.get(name, first))
        return found

    def line(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._lines:
            self._lines[name] = make()
        return self._lines[name]

    def once(self, factory: Callable[[], Any]) -> Any:
        return self._process.once(factory)

    def count_dropped(self, number: int, records: int = 1) -> None:
        self.collector.counts[number][DROPPED] += records

    def task_of(self, subtopology: int) -> TaskId:
        return TaskId(subtopology, self.number)

    def time_of(self, timeline: int) -> TaskTime:
        found = self._times.get(timeline)
        if found is None:
            first = next(node.name for node in self.code.nodes if node.timeline == timeline)
            found = self._times[timeline] = TaskTime(self.clock(f"node:{first}:stream", -1))
        return found

    def wall_queue(self) -> PunctuationQueue:
        return self._wall_queue

    @property
    def wall_clock(self) -> int:
        return time.time_ns() // 1_000_000 if self.wall is None else self.wall

    # What stores ask for: see stores.Keeper

    def ask(self, question: str, store: int, *details: Any) -> Any:
        return self._process.ask(self._changes(), question, store, *details)

    def keys_of_chunk(self, kind: TypeCode | None) -> Iterable[Any]:
        return () if self._chunk is None else self._chunk.keys_of(kind, self)

    def fail(self, node: NodeCode, error: BaseException) -> None:
        """Report that a node failed for the current record."""
        self._process.heard(error)
        self.collector.counts[node.number][FAILED] += 1
        row = self.row
        reported = described(error, _where(node))
        self.collector.errors.append((row.number, node.number, *reported, row.timestamp))

    def _changes(self) -> list[Any]:
        return [changes for store in self._stores.values() if (changes := store.changes()) is not None]

    def _changed_clocks(self) -> dict[str, int]:
        changed = {
            name: clock.time for name, clock in self._clocks.items() if clock.time != self._saved.get(name)
        }
        self._saved.update(changed)
        return changed

    def _runnings_in_order(self) -> list[tuple[int, Running]]:
        return [(node.number, self._runnings[node.number]) for node in self.code.nodes]


def _where(node: NodeCode) -> str:
    """Return where the function of a node is defined, for errors about its results."""
    return getattr(getattr(node.work, "function", None), "where", "")

"""Runs the processors of user code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brookmere.record import Record
from brookmere.worker.api.context import FixedKeyContext, ProcessorContext
from brookmere.worker.api.processor import Processor
from brookmere.worker.protocol.stage_code import Running
from brookmere.worker.task.failures import FAILURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brookmere.worker.protocol.stage_code import NodeCode, ProcessWork, ReceiveAll, Runtime
    from brookmere.worker.task.row import Row


class Processing(Running):
    """A processor on one task."""

    def __init__(self, processor: Processor, context: ProcessorContext, row: Row) -> None:
        self._processor = processor
        self._context = context
        self.receive_all = _all_receiver(processor.process, context, row)
        self.receive = _receiver(processor.process, context, row)  # type: ignore[method-assign, assignment]

    def begin(self) -> None:
        """Initialise the processor, which gets its stores and schedules its punctuations."""
        self._processor.init(self._context)
        self._context.open()

    def close(self) -> None:
        """End the processor."""
        self._context.close()
        self._processor.close()


def processing(work: ProcessWork, node: NodeCode, runtime: Runtime) -> Processing:
    """Return the processor of a node on one task."""
    processor = work.supplier()
    if not isinstance(processor, Processor):
        raise TypeError(
            f"the supplier of the processor {node.name!r} returned {type(processor).__name__}; "
            "return an object of a class derived from brookmere.Processor, a new one at each call"
        )
    kind = FixedKeyContext if work.fixed_key else ProcessorContext
    return Processing(processor, kind(work, node, runtime, runtime.output(node)), runtime.row)


def _receiver(
    process: Callable[[Record], None], context: ProcessorContext, row: Row
) -> Callable[[Any, Any, int, Any], None]:
    """Return the function that passes a record to the processor."""
    known: int | None = None
    topic: str | None = None
    partition: int | None = None

    def receive(key: Any, value: Any, ts: int, headers: Any) -> None:
        nonlocal known, topic, partition
        context.key = key
        if not row.is_record:
            process(Record(key, value, ts, headers))
            return
        number = row.number
        if row.sources[number] != known:
            known, topic, partition = row.sources[number], row.topic, row.partition
        process(
            Record(key, value, ts, headers, topic, partition, None if topic is None else row.seqs[number])
        )

    return receive


def _all_receiver(process: Callable[[Record], None], context: ProcessorContext, row: Row) -> ReceiveAll:
    """Return the function that passes all records of a chunk to the processor."""

    def receive_all(
        keys: list[Any],
        values: list[Any],
        times: list[int],
        headers: Iterable[Any],
        fail: Callable[[BaseException], None],
    ) -> None:
        known: int | None = None
        topic: str | None = None
        partition: int | None = None
        number = 0
        columns = (keys, values, times, headers, row.sources, row.seqs)
        for key, value, ts, heads, source, seq in zip(*columns, strict=False):
            row.number = number
            row.headers = row.own_headers = heads
            row.key = context.key = key
            row.value = value
            row.timestamp = ts
            if source != known:
                known, topic, partition = source, row.topic, row.partition
            try:
                process(Record(key, value, ts, heads, topic, partition, None if topic is None else seq))
            except FAILURES as error:
                fail(error)
            number += 1  # noqa: SIM113 - it costs less than enumerate over zip

    return receive_all

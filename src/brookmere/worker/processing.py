"""Turns a processor of user code into a node at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brookmere.record import Record
from brookmere.worker.code import Running
from brookmere.worker.context import FixedKeyContext, ProcessorContext
from brookmere.worker.processor import Processor

if TYPE_CHECKING:
    from collections.abc import Callable

    from brookmere.worker.code import NodeCode, ProcessWork, Runtime
    from brookmere.worker.row import Row


class Processing(Running):
    """A processor on one task."""

    def __init__(self, processor: Processor, context: ProcessorContext, row: Row) -> None:
        self._processor = processor
        self._context = context
        self._row = row
        self.receive = _receiver(processor.process, context, row)  # type: ignore[method-assign, assignment]

    def begin(self) -> None:
        """Have the processor get its stores and schedule its punctuations."""
        self._processor.init(self._context)
        self._context.initialised()

    def close(self) -> None:
        """End the processor."""
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
    """Return what makes a record for the processor."""
    source: int | None = None
    topic: str | None = None
    partition: int | None = None

    def receive(key: Any, value: Any, ts: int, headers: Any) -> None:
        nonlocal source, topic, partition
        number = row.number
        if row.is_record:
            if row.sources[number] != source:
                source = row.sources[number]
                topic, partition = row.topic, row.partition
            process(Record(key, value, ts, headers, topic, partition, row.seqs[number]))
        else:
            process(Record(key, value, ts, headers))

    if not isinstance(context, FixedKeyContext):
        return receive

    def receive_fixed(key: Any, value: Any, ts: int, headers: Any) -> None:
        context.key = key
        receive(key, value, ts, headers)

    return receive_fixed

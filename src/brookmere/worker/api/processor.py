"""The base classes of processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brookmere.record import Record
    from brookmere.worker.api.context import ProcessorContext


class Processor:
    """A node with code of its own: it gets records one by one, in order, and forwards any number of records.

    There is one object per task. It may keep what it likes in attributes; only stores outlive the process:

        class Count(bm.Processor):
            stores = [bm.key_value_store("counts", key="string", value="bigint")]

            def init(self, context):
                super().init(context)
                self.counts = context.store("counts")

            def process(self, record):
                count = (self.counts.get(record.key) or 0) + 1
                self.counts.put(record.key, count)
                self.context.forward(record.with_value(count))

    Set `reads_stream_time` or `uses_wall_clock` if it reads these times, or schedules by them, and its code
    does not show it.
    """

    stores: ClassVar[Sequence[object]] = ()
    reads_stream_time: ClassVar[bool | None] = None
    uses_wall_clock: ClassVar[bool | None] = None

    context: ProcessorContext

    def init(self, context: ProcessorContext) -> None:
        """Start on a task: get stores, schedule punctuations. Runs again when the task moves."""
        self.context = context

    def process(self, record: Record) -> None:
        """Take a record."""
        raise NotImplementedError(f"{type(self).__name__} has no method process(self, record); write one")

    def close(self) -> None:
        """Close on a task. Nothing can be forwarded. Does not run when the process is killed."""


class FixedKeyProcessor(Processor):
    """A processor that keeps keys: what it forwards has the key of the record it processes."""

"""Processors that tests of the worker run, and what becomes of their records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brookmere.record import Record
from brookmere.worker.api.context import ProcessorContext
from brookmere.worker.api.processor import Processor
from brookmere.worker.protocol.stage_code import ProcessWork, StoreCode
from tests.worker.jvm import LONG, STRING, Jvm, stage_of

COUNTS = StoreCode("counts", "key_value", STRING, LONG)
UNTIMED = (False, False, False)
"""fixed_key, reads_stream_time, uses_wall_clock of a processor without times."""


class Count(Processor):
    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.counts = context.store("counts")

    def process(self, record: Record) -> None:
        count = (self.counts.get(record.key) or 0) + 1
        self.counts.put(record.key, count)
        self.context.forward(record.with_value(count))


def doing(
    body: Callable[[ProcessorContext, Record], None], base: type[Processor] = Processor
) -> Callable[[], Processor]:
    """Return a supplier of processors that do this with each record."""

    class Doing(base):  # type: ignore[misc, valid-type]
        def process(self, record: Record) -> None:
            body(self.context, record)

    return Doing


def forwarding(made: Callable[[Record], Any], to: str | None = None) -> ProcessWork:
    return ProcessWork(doing(lambda context, record: context.forward(made(record), to)))


def failure(work: ProcessWork, *stores: StoreCode) -> str:
    """Return the message of the one record that fails."""
    answer = Jvm(stage_of(work, *stores)).batch(("a", 1, 5))
    assert answer.sent == []
    ((_, _, _, message, _, _),) = answer.errors
    return str(message)

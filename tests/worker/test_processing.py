"""Processors: what they get, what they forward, and what goes wrong."""

from __future__ import annotations

from brookmere.record import Record
from brookmere.worker.code import ProcessWork, StoreCode
from brookmere.worker.context import ProcessorContext
from brookmere.worker.processor import Processor
from tests.worker.jvm import LONG, STRING, Jvm, Sent, stage_of

COUNTS = StoreCode("counts", "key_value", STRING, LONG)


class Count(Processor):
    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.counts = context.store("counts")

    def process(self, record: Record) -> None:
        count = (self.counts.get(record.key) or 0) + 1
        self.counts.put(record.key, count)
        self.context.forward(record.with_value(count))


def test_a_count_is_kept_in_the_store() -> None:
    jvm = Jvm(stage_of(ProcessWork(Count), COUNTS))

    answer = jvm.batch(("a", 1, 5), ("b", 1, 6), ("a", 1, 7))

    assert answer.sent == [Sent("a", 1, 5, row=0), Sent("b", 1, 6, row=1), Sent("a", 2, 7, row=2)]
    assert jvm.content() == {"a": 2, "b": 1}
    assert answer.counts == {0: [3, 3, 0, 0, 0]}

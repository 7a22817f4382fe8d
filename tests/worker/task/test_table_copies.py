"""Stores of tables that a processor reads."""

from __future__ import annotations

from dataclasses import replace

from brookmere.record import Record
from brookmere.worker.api.context import ProcessorContext
from brookmere.worker.api.processor import Processor
from brookmere.worker.protocol.stage_code import NodeCode, ProcessWork, StoreCode
from brookmere.worker.task.table_copies import CopyWork
from tests.worker.jvm import LONG, STRING, Fed, Jvm, stage_of

PRICES = StoreCode("prices", "key_value", STRING, LONG, is_read=True)
COPY = 7


class Price(Processor):
    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.prices = context.store("prices")

    def process(self, record: Record) -> None:
        if record.value == 0:
            self.prices.put(record.key, 1)
        self.context.forward(record.with_value(self.prices.get(record.key)))


def _jvm() -> Jvm:
    code = stage_of(ProcessWork(Price), PRICES)
    copy = NodeCode(COPY, "prices", CopyWork("prices"), STRING, LONG, STRING, LONG, is_table=True)
    return Jvm(replace(code, nodes=(copy, *code.nodes)))


def _change(key: str, new: int | None) -> Fed:
    return Fed(key, (new, None, True), node=COPY)


def test_a_record_sees_the_changes_of_the_table_that_came_before_it() -> None:
    jvm = _jvm()

    answer = jvm.batch(("a", 1), _change("a", 5), ("a", 1), _change("a", None), ("a", 1), _change("a", 6))

    assert answer.values == [None, 5, None]
    assert jvm.content() == {"a": 6}


def test_the_table_is_still_there_with_a_new_worker() -> None:
    jvm = _jvm()
    jvm.batch(_change("a", 5))

    jvm.restart()

    assert jvm.batch(("a", 1)).values == [5]


def test_a_processor_cannot_write_into_a_table() -> None:
    answer = _jvm().batch(("a", 0))

    assert len(answer.errors) == 1
    assert "can only be read" in answer.errors[0][3]

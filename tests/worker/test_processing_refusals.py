"""What processors cannot forward, ask for or be is refused with what to do instead."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.record import Record
from brookmere.worker.api.context import ProcessorContext
from brookmere.worker.api.processor import FixedKeyProcessor, Processor
from brookmere.worker.protocol.stage_code import ProcessWork
from tests.worker.jvm import Jvm, WorkerFailedError, stage_of
from tests.worker.processors import COUNTS, doing, failure, forwarding


def test_what_is_no_record_is_refused() -> None:
    message = failure(forwarding(lambda record: record.value))

    assert message == (
        "the processor 'node' can forward Records only: found int; "
        "use record.with_value(...) or brookmere.Record(key, value, timestamp)"
    )


@pytest.mark.parametrize("time", [-1, 1.5, None, True, 1 << 63])
def test_what_is_no_time_is_refused(time: Any) -> None:
    assert "a timestamp is an int" in failure(forwarding(lambda record: record.with_timestamp(time)))


def test_an_unknown_child_is_refused_with_the_nearest() -> None:
    message = failure(forwarding(lambda record: record, to="behin"))

    assert message == "the processor 'node' has no child 'behin'. Did you mean 'behind'?"


def test_an_unknown_store_is_refused_with_the_nearest() -> None:
    work = ProcessWork(doing(lambda context, _: context.store("count")))

    assert failure(work, COUNTS) == "the processor 'node' has no store 'count'. Did you mean 'counts'?"
    assert "stores=[...]" in failure(work)


def test_a_value_of_another_type_is_refused() -> None:
    message = failure(forwarding(lambda record: record.with_value("text")))

    assert "the value" in message
    assert "'text'" in message


@pytest.mark.parametrize("header", [("a", "text"), ("a",), "a", (1, b"1")])
def test_what_is_no_header_is_refused(header: Any) -> None:
    assert "header" in failure(forwarding(lambda record: record.with_headers([header])))


def test_another_key_is_refused_where_keys_are_kept() -> None:
    supplier = doing(lambda context, record: context.forward(record.with_key("b")), FixedKeyProcessor)

    message = failure(ProcessWork(supplier, fixed_key=True))

    assert message == (
        "the processor 'node' keeps keys: found 'b' forwarded for a record of 'a'; "
        "use process() instead of process_values()"
    )


def test_the_same_key_is_forwarded_where_keys_are_kept() -> None:
    supplier = doing(lambda context, record: context.forward(record.with_value(2)), FixedKeyProcessor)

    assert Jvm(stage_of(ProcessWork(supplier, fixed_key=True))).batch(("a", 1)).pairs == [("a", 2)]


@pytest.mark.parametrize("to", [None, "behind"])
def test_nothing_is_forwarded_in_init(to: str | None) -> None:
    class Early(Processor):
        def init(self, context: ProcessorContext) -> None:
            context.forward(Record("a", 1, 0), to)

    with pytest.raises(WorkerFailedError, match=r"forwards in init\(\) or close\(\)"):
        Jvm(stage_of(ProcessWork(Early))).batch(("a", 1))


def test_nothing_is_forwarded_in_close(caplog: pytest.LogCaptureFixture) -> None:
    class Late(Processor):
        def process(self, record: Record) -> None:
            pass

        def close(self) -> None:
            self.context.forward(Record("a", 1, 0))

    jvm = Jvm(stage_of(ProcessWork(Late)))
    jvm.batch(("a", 1))
    jvm.server.close()

    assert "forwards in init() or close()" in caplog.text


def test_a_supplier_must_give_a_processor() -> None:
    jvm = Jvm(stage_of(ProcessWork(dict)))

    with pytest.raises(WorkerFailedError, match=r"supplier of the processor 'node' returned dict"):
        jvm.batch(("a", 1))


def test_a_processor_without_process_says_so() -> None:
    assert failure(ProcessWork(Processor)) == "Processor has no method process(self, record); write one"

"""Processors: what they get, what they forward, and what fails."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.record import Record
from brookmere.worker.api.context import ProcessorContext
from brookmere.worker.api.processor import Processor
from brookmere.worker.protocol.stage_code import ProcessWork, TypeCode
from tests.worker.jvm import TICKS, Fed, Jvm, Sent, WorkerFailedError, stage_of
from tests.worker.processors import COUNTS, UNTIMED, Count, doing, forwarding


@pytest.mark.parametrize("work", [ProcessWork(Count), ProcessWork(Count, *UNTIMED)])
@pytest.mark.parametrize("cut", [1, 2, None])
def test_a_count_is_kept_in_the_store(work: ProcessWork, cut: int | None) -> None:
    jvm = Jvm(stage_of(work, COUNTS))

    answer = jvm.batch(("a", 1, 5), ("b", 1, 6), ("a", 1, 7), cut=cut)

    assert answer.pairs == [("a", 1), ("b", 1), ("a", 2)]
    assert [sent.ts for sent in answer.sent] == [5, 6, 7]
    assert jvm.content() == {"a": 2, "b": 1}
    assert answer.counts == {0: [3, 3, 0, 0]}


def test_a_new_worker_goes_on_with_what_the_jvm_has() -> None:
    jvm = Jvm(stage_of(ProcessWork(Count), COUNTS))
    jvm.batch(("a", 1), ("a", 1))

    jvm.restart()

    assert jvm.batch(("a", 1), ("b", 1)).pairs == [("a", 3), ("b", 1)]


def test_tasks_have_stores_of_their_own() -> None:
    jvm = Jvm(stage_of(ProcessWork(Count), COUNTS))

    assert jvm.batch(("a", 1), task=0).values == [1]
    assert jvm.batch(("a", 1), task=1).values == [1]
    assert jvm.batch(("a", 1), task=0).values == [2]


def test_the_keys_of_a_chunk_are_asked_for_together_and_once() -> None:
    jvm = Jvm(stage_of(ProcessWork(Count), COUNTS))

    jvm.batch(("a", 1), ("b", 1), ("c", 1), ("a", 1))
    jvm.batch(("c", 1), ("d", 1))

    asked = [(name, sorted(keys)) for name, _, keys in jvm.questions]
    assert asked == [("get", ["a", "b", "c"]), ("get", ["d"])]


def test_a_record_has_its_headers_and_the_place_of_its_root() -> None:
    seen: list[Record] = []
    work = ProcessWork(doing(lambda _, record: seen.append(record)))
    jvm = Jvm(stage_of(work, topics=("one", "two")))

    jvm.batch(Fed("a", 1, 5, headers=[("h", b"1")], source=(1 << 18) | 7, seq=9))

    assert seen == [Record("a", 1, 5, (("h", b"1"),), "two", 7, 9)]


@pytest.mark.parametrize("timed", [False, True])
def test_what_a_tick_has_caused_comes_from_no_topic(timed: bool) -> None:
    seen: list[Record] = []
    work = ProcessWork(doing(lambda _, record: seen.append(record)), False, timed, False)

    Jvm(stage_of(work)).batch(Fed("a", 1, 5, source=TICKS, seq=9), Fed("b", 1, 6, seq=9))

    assert seen == [Record("a", 1, 5), Record("b", 1, 6, (), "topic", 0, 9)]


def test_the_context_tells_where_it_is() -> None:
    seen: list[Any] = []

    def look(context: ProcessorContext, _: Record) -> None:
        seen.append((context.topic, context.partition, context.offset, context.timestamp, context.headers))
        seen.append((str(context.task), context.application_id, context.node))

    jvm = Jvm(stage_of(ProcessWork(doing(look)), subtopology=2))
    jvm.batch(Fed("a", 1, 5, seq=4), task=3)

    assert seen == [("topic", 0, 4, 5, ()), ("2_3", "app", "node")]


def test_outputs_have_the_headers_that_were_forwarded() -> None:
    def fan(context: ProcessorContext, record: Record) -> None:
        context.forward(record)
        context.forward(record.with_header("b", None))
        context.forward(record.with_headers([]))

    jvm = Jvm(stage_of(ProcessWork(doing(fan))))

    answer = jvm.batch(Fed("a", 1, headers=[("a", b"1")]), Fed("b", 1))

    assert [sent.headers for sent in answer.sent] == [
        [("a", b"1")],
        [("a", b"1"), ("b", None)],
        None,
        None,
        [("b", None)],
        None,
    ]


def test_what_passes_unchanged_is_not_sent_back() -> None:
    answer = Jvm(stage_of(forwarding(lambda record: record))).batch(("a", 1, 5), (None, None, 6))

    assert answer.flags == [3, 3]
    assert answer.sent == [Sent("a", 1, 5, row=0), Sent(None, None, 6, row=1)]


def test_a_value_that_was_changed_in_place_is_sent_back() -> None:
    struct = TypeCode('{"type":"struct","fields":[{"name":"n","type":"long","nullable":true,"metadata":{}}]}')

    def add(record: Record) -> Record:
        record.value["n"] += 1
        return record

    answer = Jvm(stage_of(forwarding(add), value=struct, out_value=struct)).batch(("a", {"n": 1}))

    assert answer.values == [(2,)]


def test_a_failing_record_is_told_and_the_others_go_on() -> None:
    def divide(context: ProcessorContext, record: Record) -> None:
        context.forward(record)
        context.forward(record.with_value(10 // record.value))

    answer = Jvm(stage_of(ProcessWork(doing(divide)))).batch(("a", 0, 5), ("b", 5, 6))

    assert answer.pairs == [("a", 0), ("b", 5), ("b", 2)]
    ((row, node, kind, message, trace, ts),) = answer.errors
    assert (row, node, kind, ts) == (0, 0, "ZeroDivisionError", 5)
    assert "by zero" in message
    assert "10 // record.value" in trace
    assert answer.counts == {0: [2, 3, 0, 1]}


def test_the_exception_itself_is_heard() -> None:
    error = ValueError("mine")

    def fail(context: ProcessorContext, record: Record) -> None:
        raise error

    jvm = Jvm(stage_of(ProcessWork(doing(fail))))
    jvm.batch(("a", 1))

    assert jvm.heard == [error]


def test_init_that_fails_ends_the_batch() -> None:
    class Bad(Processor):
        def init(self, context: ProcessorContext) -> None:
            raise OSError("no model")

    jvm = Jvm(stage_of(ProcessWork(Bad)))

    with pytest.raises(WorkerFailedError, match="no model"):
        jvm.batch(("a", 1))


def test_close_is_called_at_the_end_and_before_a_task_begins_anew() -> None:
    calls: list[str] = []

    class Told(Processor):
        def init(self, context: ProcessorContext) -> None:
            calls.append(f"init {context.task}")

        def process(self, record: Record) -> None:
            calls.append("process")

        def close(self) -> None:
            calls.append("close")
            raise ValueError("it does not matter any more")

    jvm = Jvm(stage_of(ProcessWork(Told)))
    jvm.batch(("a", 1))
    jvm.batch(("a", 1))
    jvm.forget()
    jvm.batch(("a", 1))
    jvm.server.close()

    assert calls == ["init 0_0", "process", "process", "close", "init 0_0", "process", "close"]

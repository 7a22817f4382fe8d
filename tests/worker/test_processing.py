"""Processors: what they get, what they forward, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from brookmere.record import Record
from brookmere.worker.code import Child, NodeCode, ProcessWork, StageCode, StoreCode, TypeCode
from brookmere.worker.context import ProcessorContext
from brookmere.worker.processor import FixedKeyProcessor, Processor
from tests.worker.jvm import LONG, OUTSIDE, STRING, TICKS, Fed, Jvm, Sent, WorkerFailedError, stage_of

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


@pytest.mark.parametrize("work", [ProcessWork(Count), ProcessWork(Count, *UNTIMED)])
@pytest.mark.parametrize("cut", [1, 2, None])
def test_a_count_is_kept_in_the_store(work: ProcessWork, cut: int | None) -> None:
    jvm = Jvm(stage_of(work, COUNTS))

    answer = jvm.batch(("a", 1, 5), ("b", 1, 6), ("a", 1, 7), cut=cut)

    assert answer.pairs == [("a", 1), ("b", 1), ("a", 2)]
    assert [sent.ts for sent in answer.sent] == [5, 6, 7]
    assert jvm.content() == {"a": 2, "b": 1}
    assert answer.counts == {0: [3, 3, 0, 0, 0]}


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
    assert answer.counts == {0: [2, 3, 0, 1, 0]}


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


def test_what_is_no_record_is_refused() -> None:
    message = failure(forwarding(lambda record: record.value))

    assert message == (
        "the processor 'node' can forward Records only: found int; "
        "use record.with_value(...) or brookmere.Record(key, value, timestamp)"
    )


@pytest.mark.parametrize("time", [-1, 1.5, None, True])
def test_what_is_no_time_is_refused(time: Any) -> None:
    assert "which is no time" in failure(forwarding(lambda record: record.with_timestamp(time)))


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


def chained(parent: ProcessWork, child: ProcessWork, *more: Child) -> StageCode:
    """Return a stage of a node with a child inside, and others outside before and behind it."""
    inside = Child("child", 1, inside=True)
    types = (STRING, LONG, STRING, LONG)
    return StageCode(
        1,
        (
            NodeCode(0, "parent", parent, *types, children=(*more[:1], inside, *more[1:])),
            NodeCode(1, "child", child, *types, children=(Child("behind", OUTSIDE),), stores=("counts",)),
        ),
        (COUNTS,),
        ("topic",),
    )


def test_children_get_a_record_before_the_parent_goes_on() -> None:
    def twice(context: ProcessorContext, record: Record) -> None:
        context.forward(record.with_value(1))
        context.forward(record.with_value(2))

    code = chained(
        ProcessWork(doing(twice)),
        forwarding(lambda r: r.with_value(r.value * 10)),
        Child("a", 101),
        Child("b", 102),
    )

    answer = Jvm(code).batch(("k", 0))

    assert [(sent.node, sent.to, sent.value) for sent in answer.sent] == [
        (0, 101, 1),
        (1, -1, 10),
        (0, 102, 1),
        (0, 101, 2),
        (1, -1, 20),
        (0, 102, 2),
    ]
    assert answer.counts == {0: [1, 6, 0, 0, 0], 1: [2, 2, 0, 0, 0]}


def test_a_child_is_chosen_by_its_name() -> None:
    def choose(context: ProcessorContext, record: Record) -> None:
        context.forward(record, to="child" if record.value else "a")

    code = chained(ProcessWork(doing(choose)), forwarding(lambda record: record), Child("a", 101))

    answer = Jvm(code).batch(("k", 0), ("k", 1))

    assert [(sent.node, sent.to, sent.value) for sent in answer.sent] == [(0, 101, 0), (1, -1, 1)]


def test_a_failing_child_does_not_stop_its_parent() -> None:
    def fail(context: ProcessorContext, record: Record) -> None:
        raise ValueError("no")

    code = chained(forwarding(lambda r: r), ProcessWork(doing(fail)), Child("a", 101), Child("b", 102))

    answer = Jvm(code).batch(("k", 1, 5))

    assert [sent.to for sent in answer.sent] == [101, 102]
    assert [(error[0], error[1], error[2]) for error in answer.errors] == [(0, 1, "ValueError")]


def test_a_child_sees_the_time_and_headers_that_were_forwarded() -> None:
    seen: list[Any] = []

    def send(context: ProcessorContext, record: Record) -> None:
        context.forward(record.with_timestamp(9).with_header("h", b"1"))
        seen.append((context.timestamp, context.headers))

    def look(context: ProcessorContext, record: Record) -> None:
        seen.append((context.timestamp, context.headers, record.offset))
        context.store("counts").put("k", 1)
        context.forward(record)

    jvm = Jvm(chained(ProcessWork(doing(send)), ProcessWork(doing(look))))
    answer = jvm.batch(Fed("k", 1, 5, seq=3))

    assert seen == [(9, (("h", b"1"),), 3), (5, ())]
    assert answer.sent == [Sent("k", 1, 9, [("h", b"1")], node=1)]
    assert jvm.rows[0, 0] == {"k": ("k", 1, 9)}

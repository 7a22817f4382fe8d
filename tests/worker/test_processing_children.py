"""Records go from a processor to its children of the same stage, and to those outside of it."""

from __future__ import annotations

from typing import Any

from brookmere.record import Record
from brookmere.worker.api.context import ProcessorContext
from brookmere.worker.protocol.stage_code import Child, NodeCode, ProcessWork, StageCode
from tests.worker.jvm import LONG, OUTSIDE, STRING, Fed, Jvm, Sent
from tests.worker.processors import COUNTS, doing, forwarding


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
    assert answer.counts == {0: [1, 6, 0, 0], 1: [2, 2, 0, 0]}


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

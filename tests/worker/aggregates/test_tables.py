"""Aggregates of grouped tables: the old value is taken out, the new one put in."""

from __future__ import annotations

from brookmere.worker.aggregates import Fold, Start, TableAggregateWork, UserCode
from brookmere.worker.protocol.stage_code import StoreCode
from tests.worker.jvm import STRING, Jvm, stage_of

ADD = UserCode(lambda value, folded: f"{folded}+{value}", ("value", "aggregate"))
SUBTRACT = UserCode(
    lambda value, folded: None if value == "all" else f"{folded}-{value}", ("value", "aggregate")
)


def _jvm(**more: bool) -> Jvm:
    work = TableAggregateWork(Fold("kept", ADD, Start("0")), SUBTRACT, **more)
    store = StoreCode("kept", "key_value", STRING, STRING)
    return Jvm(stage_of(work, store, value=STRING, out_value=STRING, is_table=True, sends_table=True))


def test_an_update_takes_the_old_value_out_and_puts_the_new_one_in() -> None:
    jvm = _jvm(send_old=True)

    answer = jvm.batch(("g", ("a", None, True), 5), ("g", ("b", "a", True), 3), ("g", (None, "b", True), 9))

    assert answer.values == [("0+a", None), ("0+a-a+b", "0+a"), ("0+a-a+b-b", "0+a-a+b")]
    assert [sent.ts for sent in answer.sent] == [5, 5, 9]


def test_without_an_aggregate_nothing_is_taken_out() -> None:
    assert _jvm().batch(("g", (None, "a", True))).values == [(None, None)]


def test_a_subtractor_that_gives_none_lets_the_adder_begin_anew() -> None:
    jvm = _jvm()
    jvm.batch(("g", ("all", None, True), 7))

    answer = jvm.batch(("g", ("b", "all", True), 3))

    assert [(sent.value, sent.ts) for sent in answer.sent] == [(("0+b", None), 7)]


def test_a_reduce_that_begins_anew_has_the_time_of_the_record() -> None:
    work = TableAggregateWork(Fold("kept", UserCode(lambda a, b: a + b, ("aggregate", "value"))), SUBTRACT)
    store = StoreCode("kept", "key_value", STRING, STRING)
    jvm = Jvm(stage_of(work, store, value=STRING, out_value=STRING, is_table=True, sends_table=True))

    first = jvm.batch(("g", ("b", None, True), 7), ("g", ("c", None, True), 3))

    assert [(sent.value[0], sent.ts) for sent in first.sent] == [("b", 7), ("bc", 7)]


def test_a_row_without_key_is_a_failure() -> None:
    answer = _jvm().batch((None, ("a", None, True)))

    assert answer.sent == []
    assert "without key" in answer.errors[0][3]

"""Plain aggregates: what is kept, what is told, and what a user's function may do."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.worker.aggregates import AggregateWork, Fold, Start, UserCode
from brookmere.worker.protocol.stage_code import Child, NodeCode, StageCode, StoreCode, TypeCode
from tests.worker.jvm import LONG, OUTSIDE, STRING, Jvm, Sent, stage_of

KEPT = StoreCode("kept", "key_value", STRING, LONG)
COUNT = Fold("kept", UserCode(lambda count: count + 1, ("aggregate",)), Start(0))
STATS = TypeCode(
    '{"type":"struct","fields":['
    '{"name":"n","type":"long","nullable":true,"metadata":{}},'
    '{"name":"seen","type":{"type":"array","elementType":"long","containsNull":true},'
    '"nullable":true,"metadata":{}}]}'
)


def _changes_in_place(value: int, stats: dict[str, Any]) -> dict[str, Any]:
    stats["n"] += 1
    stats["seen"].append(value)
    if value < 0:
        raise ValueError("below zero")
    return stats


def _stats(**more: Any) -> Jvm:
    fold = Fold("kept", UserCode(_changes_in_place, ("value", "aggregate")), Start({"n": 0, "seen": []}))
    store = StoreCode("kept", "key_value", STRING, STATS)
    return Jvm(stage_of(AggregateWork(fold, **more), store, out_value=STATS, sends_table=True))


def _last(*works: AggregateWork, kept: StoreCode = KEPT) -> Jvm:
    nodes = tuple(
        NodeCode(
            n, f"node{n}", work, STRING, LONG, STRING, LONG, False, True, (Child("b", OUTSIDE),), ("kept",)
        )
        for n, work in enumerate(works)
    )
    return Jvm(StageCode(1, nodes, (kept,), ("topic",), "app", last_per_batch=True))


def test_a_result_has_the_latest_time_of_its_records() -> None:
    jvm = Jvm(stage_of(AggregateWork(COUNT), KEPT, sends_table=True))

    answer = jvm.batch(("a", 1, 5), ("a", 1, 3), ("b", 1, 1))

    assert answer.sent == [
        Sent("a", (1, None), 5, row=0),
        Sent("a", (2, None), 5, row=1),
        Sent("b", (1, None), 1, row=2),
    ]


def test_the_old_value_that_is_told_first_is_the_initial_one() -> None:
    jvm = Jvm(stage_of(AggregateWork(COUNT, send_old=True), KEPT, sends_table=True))

    assert jvm.batch(("a", 1), ("a", 1)).values == [(1, 0), (2, 1)]


def test_records_without_key_or_value_are_dropped() -> None:
    jvm = Jvm(stage_of(AggregateWork(COUNT), KEPT, sends_table=True))

    answer = jvm.batch((None, 1), ("a", None), ("a", 1))

    assert answer.values == [(1, None)]
    assert answer.counts == {0: [3, 1, 2, 0, 0]}


def test_a_step_that_gives_none_deletes_the_row_and_the_next_one_begins_anew() -> None:
    fold = Fold(
        "kept", UserCode(lambda value, total: total + value or None, ("value", "aggregate")), Start(0)
    )
    jvm = Jvm(stage_of(AggregateWork(fold), KEPT, sends_table=True))

    assert jvm.batch(("a", 5), ("a", -5), ("a", 7)).values == [(5, None), (None, None), (7, None)]
    assert jvm.content() == {"a": 7}


def test_a_reduce_begins_with_the_first_value() -> None:
    fold = Fold("kept", UserCode(lambda key, total, value: total * value, ("key", "aggregate", "value")))
    jvm = Jvm(stage_of(AggregateWork(fold), KEPT, sends_table=True))

    assert jvm.batch(("a", 5), ("a", 3)).values == [(5, None), (15, None)]


def test_a_step_may_change_the_aggregate_in_place() -> None:
    jvm = _stats(send_old=True)

    answer = jvm.batch(("a", 1), ("a", 2), ("b", 3))

    assert answer.values == [
        ((1, [1]), (0, [])),
        ((2, [1, 2]), (1, [1])),
        ((1, [3]), (0, [])),
    ]
    jvm.restart()
    assert jvm.batch(("a", 4)).values == [((3, [1, 2, 4]), (2, [1, 2]))]


def test_a_step_that_fails_leaves_the_aggregate_as_it_was() -> None:
    jvm = _stats()

    answer = jvm.batch(("a", 1), ("a", -2), ("a", 3))

    assert [value[0] for value in answer.values] == [(1, [1]), (2, [1, 3])]
    assert [error[:4] for error in answer.errors] == [(1, 0, "ValueError", "below zero")]


def test_an_initial_value_may_be_made_for_each_row() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return 100 * len(made)

    fold = Fold(
        "kept",
        UserCode(lambda value, total: total + value, ("value", "aggregate")),
        Start(make=UserCode(make)),
    )
    jvm = Jvm(stage_of(AggregateWork(fold), KEPT, sends_table=True))

    assert jvm.batch(("a", 1), ("b", 1), ("a", 1)).values == [(101, None), (201, None), (102, None)]


def test_an_aggregate_that_does_not_fit_its_type_fails_with_its_record() -> None:
    fold = Fold("kept", UserCode(lambda value, total: "text", ("value", "aggregate")), Start(0))
    jvm = Jvm(stage_of(AggregateWork(fold), KEPT, sends_table=True))

    answer = jvm.batch(("a", 1))

    assert answer.sent == []
    assert answer.errors[0][2] == "TypeError"
    assert "the aggregate" in answer.errors[0][3]


def test_an_aggregate_that_does_not_fit_is_told_with_the_line_of_the_step() -> None:
    step = UserCode(lambda total: str(total), ("aggregate",), where="step of aggregate at app.py:3")
    jvm = Jvm(stage_of(AggregateWork(Fold("kept", step, Start(0))), KEPT, sends_table=True))

    [error] = jvm.batch(("a", 1)).errors

    assert error[3].startswith("the aggregate does not fit: expected an integer, found str '0'")
    assert error[3].endswith("it was returned by the step of aggregate at app.py:3")


class Doubling:
    opened = 0

    def open(self) -> None:
        Doubling.opened += 1

    def __call__(self, value: int, total: int) -> int:
        return total + 2 * value


def test_a_step_that_is_a_class_is_opened_once_per_process() -> None:
    fold = Fold("kept", UserCode(Doubling, ("value", "aggregate"), is_factory=True), Start(0))
    jvm = Jvm(stage_of(AggregateWork(fold), KEPT, sends_table=True))

    first, other = jvm.batch(("a", 1), task=0), jvm.batch(("a", 2), task=1)

    assert (first.values, other.values) == ([(2, None)], [(4, None)])
    assert Doubling.opened == 1


@pytest.mark.parametrize(
    "made",
    [lambda total: total + 1, lambda value, total: total + value, lambda key, value, total: total + value],
)
def test_a_step_that_a_function_makes_gets_what_it_has_parameters_for(made: Any) -> None:
    makes = UserCode(lambda: made, ("key", "value", "aggregate"), is_factory=True)
    jvm = Jvm(stage_of(AggregateWork(Fold("kept", makes, Start(0))), KEPT, sends_table=True))

    assert jvm.batch(("a", 1)).values == [(1, None)]


def test_the_last_updates_of_a_batch_come_in_the_order_of_last_changes_with_the_headers_of_those() -> None:
    jvm = _last(AggregateWork(COUNT, send_old=True))
    one, other = [("h", b"1")], [("h", b"2")]
    jvm.batch(("b", 1, 1))

    answer = jvm.batch(("a", 1, 5, 0, one), ("b", 1, 6), ("a", 1, 4, 0, other))

    assert [(s.key, s.value, s.ts, s.headers) for s in answer.sent] == [
        ("b", (2, 1), 6, None),
        ("a", (2, None), 5, other),
    ]


def test_a_row_that_came_and_went_within_a_batch_is_not_told() -> None:
    fold = Fold(
        "kept", UserCode(lambda value, total: total + value or None, ("value", "aggregate")), Start(0)
    )
    jvm = _last(AggregateWork(fold))

    assert jvm.batch(("a", 5), ("a", -5)).sent == []
    jvm.batch(("a", 5))
    assert jvm.batch(("a", -5)).pairs == [("a", (None, None))]


def test_operators_that_share_a_store_share_the_order_of_last_changes() -> None:
    jvm = _last(AggregateWork(COUNT), AggregateWork(COUNT))

    answer = jvm.batch(("a", 1, 1, 0), ("b", 1, 2, 1), ("c", 1, 3, 0), ("a", 1, 4, 1))

    assert [(s.key, s.value[0], s.node) for s in answer.sent] == [("b", 1, 1), ("c", 1, 0), ("a", 2, 1)]

"""The worker makes the calls of aggregates that the kernel asks for, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from brookmere.worker.aggregates import FoldCode, FoldFunction, FoldStage, Start, UserCode
from brookmere.worker.aggregates.fold_stage import Answer, Calls
from brookmere.worker.protocol.process import Process
from brookmere.worker.protocol.stage_code import TypeCode
from tests.worker.jvm import LONG, STRING

STATS = TypeCode(
    '{"type":"struct","fields":['
    '{"name":"n","type":"long","nullable":true,"metadata":{}},'
    '{"name":"seen","type":{"type":"array","elementType":"long","containsNull":true},'
    '"nullable":true,"metadata":{}}]}'
)
NUMBERS = TypeCode('{"type":"array","elementType":"long","containsNull":true}')


def _add(value: int, total: int) -> int:
    return total + value


def step(call: Callable[..., Any] = _add, *takes: Any, **more: Any) -> FoldFunction:
    code = UserCode(
        call, takes or ("value", "aggregate"), more.pop("is_factory", False), more.pop("where", "")
    )
    given = {"initial": Start(0), "key": STRING, "value": LONG, "kept": LONG, **more}
    return FoldFunction("step", code, **given)


def run(made: FoldFunction | list[FoldFunction], befores: list[int], **more: Any) -> Answer:
    """Make one call of the first function for each value, or the calls that are given."""
    functions = made if isinstance(made, list) else [made]
    stage = FoldStage(FoldCode(1, tuple(functions)), Process(None))  # type: ignore[arg-type]
    unused = {"records": None, "merged": None, "keys": None, "olds": None}
    given = {"functions": 0, "stored": [], "values": [], **unused, **more}
    return stage.run(Calls(befores=befores, **given))


def test_call_gets_a_stored_aggregate_the_result_of_an_earlier_call_or_the_initial_value() -> None:
    results, initials, failure = run(step(), [1, 2, 0], stored=[100], values=[1, 2, 3])

    assert results == [101, 103, 3]
    assert (initials, failure) == (None, None)


def test_record_can_be_folded_into_several_windows() -> None:
    results, _, _ = run(step(), [0, 0, 1], records=[0, 0, 1], values=[5, 7])

    assert results == [5, 5, 12]


def test_step_that_returns_none_lets_the_next_call_start_from_the_initial_value() -> None:
    results, _, _ = run(step(lambda value, total: total + value or None), [0, 1, 2], values=[5, -5, 7])

    assert results == [5, None, 7]


def test_reduce_starts_with_the_first_value() -> None:
    multiply = step(lambda key, total, value: total * value, "key", "aggregate", "value", initial=None)

    results, _, _ = run(multiply, [0, 1], keys=["a", "a"], values=[5, 3])

    assert results == [5, 15]


def test_step_can_change_the_aggregate_in_place() -> None:
    def append(value: int, stats: dict[str, Any]) -> dict[str, Any]:
        stats["n"] += 1
        stats["seen"].append(value)
        return stats

    function = step(append, kept=STATS, initial=Start({"n": 0, "seen": []}))

    results, _, _ = run(function, [0, 1, 0], values=[1, 2, 3])

    assert results == [(1, [1]), (2, [1, 2]), (1, [3])]


def test_step_that_changes_its_value_does_not_change_it_for_other_windows() -> None:
    def add_up(value: list[int], total: int) -> int:
        value.append(1)
        return total + sum(value)

    results, _, _ = run(step(add_up, value=NUMBERS), [0, 0, 1], records=[0, 0, 1], values=[[10], [20]])

    assert results == [11, 11, 32]


def test_calls_end_at_the_first_that_fails() -> None:
    results, _, failure = run(step(lambda value, total: total + 6 // value), [0, 1, 2], values=[1, 0, 3])

    assert results == [6]
    assert failure is not None
    assert failure[:2] == ("ZeroDivisionError", "integer division or modulo by zero")


def test_result_that_does_not_fit_its_type_fails_with_the_line_of_the_step() -> None:
    function = step(lambda value, total: "text", where="step of aggregate at app.py:3")

    results, _, failure = run(function, [0], values=[1])

    assert results == []
    assert failure is not None
    assert failure[0] == "TypeError"
    assert failure[1].startswith("the aggregate does not fit")
    assert failure[1].endswith("step of aggregate at app.py:3")


def test_calls_end_at_a_none_that_decides_which_calls_come_next() -> None:
    function = step(lambda value, total: None if value == 2 else value, stops_at_none=True)

    results, _, failure = run(function, [0, 1, 2], values=[1, 2, 3])

    assert results == [1, None]
    assert failure is None


def test_initial_value_may_be_made_for_each_row_and_is_returned_where_it_is_sent_on() -> None:
    made = iter([100, 200])
    function = step(initial=Start(make=UserCode(lambda: next(made))), returns_initial=True)

    results, initials, _ = run(function, [0, 0, 1], values=[1, 1, 1])

    assert results == [101, 201, 102]
    assert initials == [100, 200, None]


def test_no_initial_values_are_returned_for_a_function_whose_initial_value_is_not_sent_on() -> None:
    functions = [step(), step(returns_initial=True)]

    plain = run(functions, [0, 1], functions=0, values=[1, 2])
    both = run(functions, [0, 0], functions=[0, 1], values=[1, 2])

    assert plain == ([1, 3], None, None)
    assert both == ([1, 2], [0, 0], None)


def test_subtractor_gets_the_old_value_and_merger_the_other_aggregate() -> None:
    subtract = FoldFunction(
        "subtract", UserCode(lambda v, t: t - v, ("value", "aggregate")), None, STRING, LONG, LONG
    )
    merge = FoldFunction(
        "merge", UserCode(lambda a, b: a * b, ("aggregate", "value")), None, STRING, LONG, LONG
    )

    results, _, _ = run(
        [step(), subtract, merge],
        [1, 2, 3],
        functions=[1, 0, 2],
        records=[0, 0, 1],
        stored=[50],
        merged=[0, 0, 2],
        values=[5, None],
        olds=[10, None],
    )

    assert results == [40, 45, 1800]


class Doubling:
    opened = 0

    def open(self) -> None:
        Doubling.opened += 1

    def __call__(self, value: int, total: int) -> int:
        return total + 2 * value


def test_step_that_is_a_class_is_opened_once_per_process() -> None:
    process = Process(None)  # type: ignore[arg-type]
    code = FoldCode(1, (step(Doubling, is_factory=True),))
    calls = Calls(0, None, [0], None, [], None, [4], None)

    answers = [FoldStage(code, process).run(calls) for _ in range(2)]

    assert [results for results, _, _ in answers] == [[8], [8]]
    assert Doubling.opened == 1


@pytest.mark.parametrize(
    "made",
    [lambda total: total + 1, lambda value, total: total + value, lambda key, value, total: total + value],
)
def test_step_from_a_factory_gets_the_arguments_it_has_parameters_for(made: Any) -> None:
    function = step(lambda: made, "key", "value", "aggregate", is_factory=True)

    results, _, _ = run(function, [0], keys=["a"], values=[1])

    assert results == [1]

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import pytest

from brookmere.worker.functions.stream_functions import (
    BranchWork,
    FilterWork,
    FlatMapValuesWork,
    FlatMapWork,
    MapValuesWork,
    MapWork,
    SelectKeyWork,
    UserFunction,
)
from brookmere.worker.types.annotations import resolved
from tests.worker.alone import LONG, TEXT, Alone
from tests.worker.jvm import WorkerFailedError
from tests.worker.types.test_python_values import code, struct


def function(call: Callable[..., Any], role: str = "mapper of map_values", **more: Any) -> UserFunction:
    return UserFunction(call, role, "app.py:3", **more)


def message(node: Alone) -> str:
    assert len(node.errors) == 1, node.errors
    return str(node.errors[0][1])


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (lambda: "none", "none"),
        (lambda value: value + "!", "v!"),
        (lambda key, value: key + value, "kv"),
        (lambda key, value, timestamp: f"{key}{value}{timestamp}", "kv5"),
        (lambda value, other="o": value + other, "vo"),
        (lambda *both: "".join(both), "kv"),
        (str.upper, "V"),
        ("{}?".format, "v?"),
    ],
)
def test_a_function_gets_what_it_has_parameters_for(call: Any, value: str) -> None:
    assert Alone(MapValuesWork(function(call))).receive(("k", "v")) == [("k", value)]


def test_a_function_of_too_many_parameters_is_refused() -> None:
    node = Alone(MapValuesWork(function(lambda a, b, c, d: a)))

    with pytest.raises(
        WorkerFailedError, match=r"mapper of map_values at app\.py:3 takes 4 parameters; write a function"
    ):
        node.receive(("k", "v"))


def test_map_gives_a_new_key_and_a_new_value() -> None:
    node = Alone(MapWork(function(lambda key, value: (value, key))))

    assert node.receive(("k", "v"), (None, "w")) == [("v", "k"), ("w", None)]


@pytest.mark.parametrize("answer", [None, "ab", ["a", "b"], ("a",), ("a", "b", "c")])
def test_map_must_return_a_pair(answer: Any) -> None:
    node = Alone(MapWork(function(lambda value: answer, "mapper of map")))

    assert node.receive(("k", "v")) == []
    assert message(node).startswith("The mapper of map at app.py:3 must return a key and a value, found ")
    assert message(node).endswith("return a tuple, for example `return value.id, value`")


def test_select_key_gives_a_new_key() -> None:
    assert Alone(SelectKeyWork(function(lambda value: value[0]))).receive(("k", "value")) == [("v", "value")]


def test_flat_map_gives_as_many_records_as_it_likes() -> None:
    def words(key: str, value: str) -> Iterator[tuple[str, str]]:
        for word in value.split():
            yield word, key

    assert Alone(FlatMapWork(function(words))).receive(("k", "a b"), ("k", "")) == [("a", "k"), ("b", "k")]


def test_flat_map_values_keeps_the_key() -> None:
    assert Alone(FlatMapValuesWork(function(str.split))).receive(("k", "a b")) == [("k", "a"), ("k", "b")]


@pytest.mark.parametrize("work", [FlatMapWork, FlatMapValuesWork])
def test_none_is_no_record(work: Any) -> None:
    node = Alone(work(function(lambda value: None)))

    assert node.receive(("k", "v")) == []
    assert node.errors == []


@pytest.mark.parametrize("answer", ["text", b"bytes", {"a": 1}, 5])
def test_flat_map_values_must_return_a_list(answer: Any) -> None:
    node = Alone(FlatMapValuesWork(function(lambda value: answer)))

    assert node.receive(("k", "v")) == []
    assert "must return a list or another iterable, found" in message(node)


def test_a_generator_that_fails_has_sent_nothing() -> None:
    def some(value: str) -> Iterator[str]:
        yield "a"
        raise ValueError("broken")

    node = Alone(FlatMapValuesWork(function(some)))

    assert node.receive(("k", "v")) == []
    assert message(node) == "broken"


@pytest.mark.parametrize("work", [FlatMapValuesWork, FlatMapWork])
def test_several_records_of_which_one_does_not_fit_are_not_sent(work: Any) -> None:
    several = ["a", 2] if work is FlatMapValuesWork else [("a", "a"), ("b", 2)]
    node = Alone(work(function(lambda value: several)))

    assert node.receive(("k", "v")) == []
    assert message(node).startswith("the value does not fit: expected text, found int 2")


def test_filter_keeps_what_the_predicate_holds_for() -> None:
    node = Alone(FilterWork(function(lambda value: value > "b")))

    assert node.receive(("k", "a"), ("k", "c")) == [("k", "c")]


def test_filter_not_keeps_the_others() -> None:
    node = Alone(FilterWork(function(lambda value: value > "b"), negate=True))

    assert node.receive(("k", "a"), ("k", "c")) == [("k", "a")]


@pytest.mark.parametrize("answer", [None, 1, "yes", []])
@pytest.mark.parametrize("negate", [False, True])
def test_a_predicate_must_return_true_or_false(answer: Any, negate: bool) -> None:
    node = Alone(FilterWork(function(lambda value: answer, "predicate of filter"), negate))

    assert node.receive(("k", "v")) == []
    expected = "The predicate of filter at app.py:3 must return True or False, found "
    assert message(node).startswith(expected)
    assert message(node).endswith("; compare, or use bool(...)")


def test_a_record_goes_to_the_first_branch_that_takes_it() -> None:
    tests = tuple(function(test) for test in (lambda value: value < "b", lambda value: value < "d"))
    node = Alone(BranchWork(tests, ("low", "middle", "rest")), children=("low", "middle", "rest"))

    found = node.receive(("k", "a"), ("k", "c"), ("k", "e"))

    assert found == [("low", "k", "a"), ("middle", "k", "c"), ("rest", "k", "e")]


def test_a_record_that_no_branch_takes_is_dropped() -> None:
    node = Alone(BranchWork((function(lambda value: False),), ("low",)), children=("low",))

    assert node.receive(("k", "a")) == []
    assert node.dropped == 1


def test_a_failing_record_does_not_stop_the_next() -> None:
    node = Alone(MapValuesWork(function(lambda value: 10 // int(value))), out_value=LONG)

    assert node.receive(("k", "0"), ("k", "5")) == [("k", 2)]
    assert [(row, type(error)) for row, error in node.errors] == [(0, ZeroDivisionError)]


def test_a_function_that_exits_fails_its_record_and_nothing_else() -> None:
    node = Alone(MapValuesWork(function(lambda value: sys.exit("bad arguments") if value == "a" else value)))

    assert node.receive(("k", "a"), ("k", "b")) == [("k", "b")]
    kind, text, trace = node.told[0]
    assert (kind, text) == ("SystemExit", "bad arguments")
    assert "test_stream_functions.py" in trace


def test_a_value_that_does_not_fit_the_declared_type_is_an_error_of_its_record() -> None:
    node = Alone(MapValuesWork(function(lambda value: value)), out_value=LONG)

    assert node.receive(("k", "v")) == []
    assert message(node) == (
        "the value does not fit: expected an integer, found str 'v'; convert it, or change returns="
    )


def test_what_does_not_fit_is_told_with_the_line_of_the_function_that_returned_it() -> None:
    node = Alone(MapValuesWork(function(len)))
    node.receive(("k", "a"))

    kind, text, trace = node.told[0]
    assert text.endswith(
        "found int 1; convert it, or change returns=; it was returned by the mapper of map_values at app.py:3"
    )
    assert trace == f"{kind}: {text}\n"


def test_a_traceback_begins_in_the_function() -> None:
    def inner(value: str) -> str:
        raise KeyError(value)

    node = Alone(MapValuesWork(function(inner)))
    node.receive(("k", "v"))

    [(kind, text, trace)] = node.told

    assert (kind, text) == ("KeyError", "'v'")
    frames = re.findall(r'File "(.*)", line \d+, in (\w+)', trace)
    assert [name for _, name in frames] == ["inner"]


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_exception_that_cannot_say_what_is_wrong_is_told_all_the_same() -> None:
    def fail(value: str) -> str:
        raise MuteError

    node = Alone(MapValuesWork(function(fail)))
    node.receive(("k", "v"))

    kind, text, _ = node.told[0]
    assert kind == f"{__name__}.MuteError"
    assert text == "its message cannot be made: RuntimeError"


def test_an_exception_that_was_wrapped_many_times_is_told_with_all_that_came_before() -> None:
    def fail(value: str) -> str:
        error = ValueError("first")
        for number in range(3000):
            error, before = ValueError(f"number {number}"), error
            error.__cause__ = before
        raise error

    node = Alone(MapValuesWork(function(fail)))
    node.receive(("k", "v"))

    kind, text, trace = node.told[0]
    assert (kind, text) == ("ValueError", "number 2999")
    assert trace.startswith("ValueError: first\n")


@dataclass
class Sale:
    item: str
    price: Decimal


def test_functions_see_dataclasses_and_return_dicts_or_dataclasses() -> None:
    kind = code(struct(item="string", price="decimal(10,2)"), made=resolved(Sale))
    node = Alone(
        MapValuesWork(function(lambda sale: Sale(sale.item, sale.price * 2))), value=kind, out_value=kind
    )

    found = node.receive(("k", {"item": "tea", "price": "1.25"}))

    assert found == [("k", Sale("tea", Decimal("2.50")))]


class Model:
    """Counts what it is asked to do."""

    made: ClassVar[list[Model]] = []

    def __init__(self) -> None:
        self.said: list[str] = []
        Model.made.append(self)

    def open(self) -> None:
        self.said.append("open")

    def close(self) -> None:
        self.said.append("close")

    def __call__(self, key: str, value: str) -> str:
        self.said.append(value)
        return key + value


def test_an_object_is_opened_before_the_first_record_and_closed_at_the_end() -> None:
    Model.made = []
    node = Alone(MapValuesWork(function(Model, is_factory=True)))

    assert node.receive(("k", "a")) == [("k", "ka")]
    node.jvm.batch(("k", "b"), task=1)
    node.close()

    assert [model.said for model in Model.made] == [["open", "a", "b", "close"]]


class Broken:
    def open(self) -> None:
        raise FileNotFoundError("no model here")

    def __call__(self, value: str) -> str:
        return value


def test_an_object_that_cannot_be_opened_ends_the_batch_with_its_own_words() -> None:
    node = Alone(MapValuesWork(function(Broken, is_factory=True)))

    with pytest.raises(WorkerFailedError, match=r"in open(?s:.)*FileNotFoundError: no model here") as failure:
        node.receive(("k", "a"))

    assert "brookmere/worker" not in str(failure.value)


class Waiting(Broken):
    async def open(self) -> None:  # type: ignore[override]
        raise AssertionError("nobody waits for it")


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: None, "but returned NoneType None; return something that can be called"),
        (lambda: Waiting(), r"Waiting\.open\(\) is asynchronous, and nothing waits for it; use brookmere"),
    ],
)
def test_a_factory_that_makes_what_cannot_be_used_ends_the_batch(made: Any, message: str) -> None:
    node = Alone(MapValuesWork(function(made, is_factory=True)))

    with pytest.raises(WorkerFailedError, match=message):
        node.receive(("k", "a"))


@dataclass
class Making:
    """Makes a function, and has no hash."""

    end: str

    def __call__(self) -> Callable[[str], str]:
        return lambda value: value + self.end


def test_a_factory_may_be_an_object_of_a_dataclass() -> None:
    node = Alone(MapValuesWork(function(Making("!"), is_factory=True)))

    assert node.receive(("k", "a")) == [("k", "a!")]


def test_a_factory_may_make_a_plain_function() -> None:
    def upper() -> Callable[[str], str]:
        return lambda value: value.upper()

    node = Alone(MapValuesWork(function(upper, is_factory=True)))

    assert node.receive(("k", "a")) == [("k", "A")]
    node.close()


def test_keys_of_another_type_are_checked() -> None:
    node = Alone(SelectKeyWork(function(int)), out_key=LONG, out_value=TEXT)

    assert node.receive(("k", "5")) == [(5, "5")]
